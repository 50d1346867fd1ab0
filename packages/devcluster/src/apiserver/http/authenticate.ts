import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiStatusError } from "../../store/api-status-error.js";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const LOOPBACK_HOST = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/** Browsers are kept out: a page's request carries an Origin, and a rebound name another Host. */
const refuseBrowsers = ({ headers }: IncomingMessage): void => {
  if (headers.origin !== undefined)
    throw new ApiStatusError(403, "Forbidden", "requests from web pages (with an Origin header) are refused");
  if (!LOOPBACK_HOST.test(headers.host ?? ""))
    throw new ApiStatusError(403, "Forbidden", "this server answers only to a loopback host name");
};

/** One identity exists here, so acting as another cannot mean anything. */
const refuseImpersonation = ({ headers }: IncomingMessage): void => {
  const header = Object.keys(headers).find((name) => name.startsWith("impersonate-"));
  if (header)
    throw new ApiStatusError(
      403,
      "Forbidden",
      `the embedded cluster knows one user and no roles: ${header} is refused`,
    );
};

/**
 * Checks who asks: the bearer secret of the installation, from this machine.
 * @throws 401 Unauthorized or 403 Forbidden
 */
export const makeAuthenticate = (token: string): ((request: IncomingMessage) => void) => {
  if (token === "") throw new Error("the API server needs a secret: an empty one would let everybody in");
  const expected = digest(token);
  return (request) => {
    const match = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? "");
    if (!match || !timingSafeEqual(digest(match[1] ?? ""), expected))
      throw new ApiStatusError(401, "Unauthorized", "Unauthorized");
    refuseBrowsers(request);
    refuseImpersonation(request);
  };
};
