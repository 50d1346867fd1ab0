/** One scheme of a `WWW-Authenticate` header with its parameters. */
export interface Challenge {
  /** Lower case. */
  scheme: string;
  params: ReadonlyMap<string, string>;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const PARAM = /\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/y;
const LONGEST_HEADER = 8192;

/**
 * Parses all challenges of one or more header values (RFC 9110 11.6.1): registries send several schemes in one header
 * and in several (D20). What can't be parsed ends the list; linear in the header's length.
 */
export function parseChallenges(header: string | string[] | undefined): Challenge[] {
  const text = [header ?? []].flat().join(", ").slice(0, LONGEST_HEADER);
  const challenges: Challenge[] = [];
  let at = 0;
  while (at < text.length) {
    at = skipSeparators(text, at);
    const scheme = matchAt(TOKEN, text, at);
    if (!scheme) break;
    at += scheme[0].length;
    const params = new Map<string, string>();
    for (let param = matchAt(PARAM, text, at); param; param = matchAt(PARAM, text, at)) {
      params.set((param[1] ?? "").toLowerCase(), param[3] ?? (param[2] ?? "").replace(/\\(.)/g, "$1"));
      at += param[0].length;
    }
    challenges.push({ scheme: scheme[0].toLowerCase(), params });
  }
  return challenges;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function skipSeparators(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "," || text[at] === "\t") at++;
  return at;
}
