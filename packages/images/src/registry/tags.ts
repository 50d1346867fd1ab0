import { z } from "zod";
import { pullScope } from "./auth.js";
import { readBounded } from "./bounded-body.js";
import { parseDocument } from "./documents.js";
import { RegistryLied, RegistryNotFound } from "./errors.js";
import type { Transport } from "./transport.js";

const PAGE_BYTES = 4 << 20;
const PAGE_SIZE = 1000;
const TagList = z.object({ tags: z.array(z.string().max(128)).nullish() });

/** All tags of a repository, page by page; none for a repository that does not exist. */
export async function* listTags(
  transport: Transport,
  repository: string,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const visited = new Set<string>();
  let url: string | URL | undefined = `/v2/${repository}/tags/list?n=${PAGE_SIZE}`;
  while (url !== undefined) {
    const page = await readPage(transport, repository, url, signal);
    yield* page.tags;
    url = page.next;
    if (url !== undefined && visited.has(url.href)) throw new RegistryLied(`The tags of ${repository} repeat a page`);
    if (url !== undefined) visited.add(url.href);
  }
}

async function readPage(
  transport: Transport,
  repository: string,
  url: string | URL,
  signal?: AbortSignal,
): Promise<{ tags: string[]; next: URL | undefined }> {
  try {
    const answer = await transport.request({
      method: "GET",
      url,
      scopes: [pullScope(repository)],
      expect: [200],
      what: `list the tags of ${repository}`,
      ...(signal ? { signal } : {}),
    });
    const bytes = await readBounded(answer.body, PAGE_BYTES, "A page of tags");
    const { tags } = parseDocument(TagList, `The list of tags of ${repository}`, bytes);
    return { tags: tags ?? [], next: nextLink(answer.headers.link, answer.url) };
  } catch (error) {
    if (error instanceof RegistryNotFound) return { tags: [], next: undefined };
    throw error;
  }
}

/** RFC 8288; a link to another origin is not followed. */
function nextLink(header: string | string[] | undefined, base: URL): URL | undefined {
  const link = [header ?? []].flat().map((value) => /^\s*<([^>]{1,2048})>\s*;[^,]*rel="?next"?/.exec(value)?.[1]);
  const target = link.find((found) => found !== undefined);
  if (target === undefined || !URL.canParse(target, base.href)) return undefined;
  const url = new URL(target, base);
  return url.origin === base.origin ? url : undefined;
}
