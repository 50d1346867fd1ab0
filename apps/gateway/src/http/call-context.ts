import type { IncomingMessage } from "node:http";

/** What the function learns of a call beside the request itself; merged into `event.requestContext`. */
export interface CallContext {
  readonly sourceIp: string;
  readonly host: string;
  readonly trigger: { readonly type: "http" | "invoke"; readonly name?: string };
  /** Subject of the token with which somebody invoked. */
  readonly caller?: string;
}

const MAX_USER_AGENT = 512;
const MAX_CLIENT_REQUEST_ID = 128;

const clientRequestId = (request: IncomingMessage): string | undefined => {
  const given = request.headers["x-request-id"];
  return typeof given === "string" ? given.slice(0, MAX_CLIENT_REQUEST_ID) : undefined;
};

/**
 * Value of `x-sless-context`: base64url of JSON, so that no text of a client can break out of the header. The client's
 * own request id is an attribute; the platform's is always fresh (security 19).
 */
export const encodeCallContext = (request: IncomingMessage, context: CallContext): string => {
  const { sourceIp, host, trigger, caller } = context;
  const userAgent = request.headers["user-agent"]?.slice(0, MAX_USER_AGENT) ?? "";
  const identity = { sourceIp, userAgent };
  const json = JSON.stringify({ identity, host, trigger, caller, clientRequestId: clientRequestId(request) });
  return Buffer.from(json, "utf8").toString("base64url");
};
