import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK_HOST = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Keeps web pages out of services on loopback: a page's request carries an Origin, a rebound name another Host.
 * @returns why a request is refused; undefined when it may pass
 */
export const loopbackRefusal = ({ host, origin }: IncomingHttpHeaders): string | undefined => {
  if (origin !== undefined) return "requests from web pages (with an Origin header) are refused";
  return LOOPBACK_HOST.test(host ?? "") ? undefined : "this server answers only to a loopback host name";
};
