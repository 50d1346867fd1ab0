import type { IncomingMessage } from "node:http";

/** A host name, an address in brackets, or an IPv4 address, each with an optional port: RFC 9110 7.2. */
const HOST = /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

const countOf = (request: IncomingMessage, lowerName: string): number => {
  let count = 0;
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] as string;
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) count++;
  }
  return count;
};

/**
 * Why a request could be read in two ways, by this gateway and by what stands before or behind it; undefined when it
 * can't. node:http's strict parser refuses the rest already: two lengths, a length beside chunks, bare line feeds.
 * The connection is closed after such a request (security 19).
 */
export const findAmbiguity = (request: IncomingMessage): string | undefined => {
  const { host } = request.headers;
  if (host === undefined || !HOST.test(host)) return "the Host header is missing or no host name";
  if (countOf(request, "host") > 1) return "there is more than one Host header";
  const coding = request.headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (request.httpVersionMinor === 0) return "HTTP/1.0 has no Transfer-Encoding";
  return coding.toLowerCase() === "chunked" ? undefined : "Transfer-Encoding must be chunked and nothing else";
};
