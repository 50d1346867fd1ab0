/** Where a request is aimed, as it was sent: nothing is decoded, merged or normalised (R13, R14). */
export interface RequestTarget {
  /** Raw path and query, beginning with a slash. */
  readonly url: string;
  /** Raw path without the query. */
  readonly path: string;
  /** As in `Host`; the authority of a target in absolute form goes before it (RFC 9112 3.2.2). */
  readonly host: string;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

const pathOf = (url: string): string => {
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
};

/** Reads a request target in origin or absolute form; undefined for `*`, an authority, or anything else. */
export const parseRequestTarget = (raw: string, host: string): RequestTarget | undefined => {
  if (raw.startsWith("/")) return { url: raw, path: pathOf(raw), host };
  const absolute = ABSOLUTE.exec(raw);
  if (absolute === null) return undefined;
  const rest = absolute[2] ?? "";
  const url = rest.startsWith("/") ? rest : `/${rest}`;
  return { url, path: pathOf(url), host: absolute[1] ?? "" };
};
