import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiStatusError, type Status } from "../../store/api-status-error.js";
import type { ResourceType } from "../../store/types.js";
import type { KindRules } from "../objects/kind-rules.js";
import type { ServedStore } from "../served-store.js";

/** One request for a resource that is served, with all that its handler needs. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly store: ServedStore;
  readonly type: ResourceType;
  readonly rules: KindRules;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  /** Texts for `Warning:` headers. */
  readonly warnings: string[];
}

/** A whole answer; streams write to the response themselves. */
export interface Answer {
  code: number;
  body: unknown;
}

export const ok = (body: unknown, code = 200): Answer => ({ code, body });

const MAX_WARNING = 1000;

/** Whatever a header may not carry as it is. */
const UNPRINTABLE = /[^\x20-\x7e]/g;

/** `299 - "text"` per RFC 9111, as kube-apiserver sends it. */
const formatWarning = (text: string): string => {
  const printable = text.slice(0, MAX_WARNING).replaceAll(UNPRINTABLE, " ");
  return `299 - "${printable.replaceAll(/[\\"]/g, "\\$&")}"`;
};

export const sendJson = (response: ServerResponse, { code, body }: Answer, warnings: readonly string[] = []): void => {
  const text = `${JSON.stringify(body)}\n`;
  if (warnings.length > 0) response.setHeader("Warning", warnings.map(formatWarning));
  response.writeHead(code, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-cache, private",
  });
  response.end(text);
};

/** Any error as a Status; what is no refusal is a fault of this server and says so. */
export const toStatus = (error: unknown): Status => {
  if (error instanceof ApiStatusError) return error.toStatus();
  const message = error instanceof Error ? error.message : String(error);
  return new ApiStatusError(500, "InternalError", `Internal error occurred: ${message}`).toStatus();
};
