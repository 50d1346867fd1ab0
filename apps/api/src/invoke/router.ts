import type { RequestHandler } from "express";
import { Name } from "@sless/contracts";
import type { Authenticator } from "../auth/authenticator.js";
import { MethodNotAllowed, NotFound, TooLarge } from "../errors.js";
import { createLifetime } from "../http/lifetime.js";
import { markRoute } from "../http/observe.js";
import type { Access } from "../tenants/access.js";
import { signCaller } from "./caller-token.js";
import type { Forwarder } from "./forward.js";
import { requestHeaders } from "./headers.js";
import { INVOKE_ROUTE, parseInvokeTarget } from "./target.js";

export interface InvokeOptions {
  readonly authenticator: Authenticator;
  readonly access: Access;
  readonly forwarder: Forwarder;
  readonly internalKey: string;
  readonly maxBodyBytes: number;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * `ANY …/invoke[/path]`. It stands before the other routes and reads the raw request target, since Express would decode
 * the path that the function shall see.
 */
export const forwardInvokes =
  ({ authenticator, access, forwarder, internalKey, maxBodyBytes }: InvokeOptions): RequestHandler =>
  async (req, res, next) => {
    const target = parseInvokeTarget(req.originalUrl);
    if (!target) return next();
    markRoute(res, INVOKE_ROUTE);
    if (!METHODS.includes(req.method)) throw new MethodNotAllowed(METHODS);
    const principal = await authenticator.authenticate(req.headers.authorization);
    const namespace = access.resolve(principal, target.namespace);
    await access.forRead(principal, namespace);
    if (!Name.safeParse(target.name).success) throw new NotFound("There is no function of this name.");
    if (Number(req.headers["content-length"] ?? 0) > maxBodyBytes) {
      throw new TooLarge(`The body of a call may have ${maxBodyBytes} bytes.`);
    }
    await forwarder.forward(req, res, {
      path: `/invoke/${namespace}/${target.name}${target.rest}`,
      headers: requestHeaders(req.rawHeaders, signCaller(internalKey, principal, namespace)),
      signal: createLifetime(res, principal),
    });
  };
