/** An image by digest: the only form that the platform runs or builds upon. */
export interface ImageReference {
  /** `host` or `host:port`. */
  host: string;
  repository: string;
  /** `sha256:` and 64 hex digits. */
  digest: string;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const HOST = /^[A-Za-z0-9.[\]:-]{1,255}$/;
/** Distribution specification, "name". */
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const LONGEST_REPOSITORY = 255;

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** @throws RangeError when it is not a repository name of the distribution specification */
export function checkRepository(repository: string): string {
  if (repository.length > LONGEST_REPOSITORY || !REPOSITORY.test(repository))
    throw new RangeError(`not a repository name: ${JSON.stringify(repository.slice(0, 300))}`);
  return repository;
}

/**
 * Parses `host/repository@sha256:…`.
 *
 * @throws RangeError for anything else; tags are refused, since they may change under a build
 */
export function parseImageReference(text: string): ImageReference {
  const [name = "", digest = "", ...rest] = text.split("@");
  const slash = name.indexOf("/");
  const host = name.slice(0, Math.max(0, slash));
  if (rest.length > 0 || !HOST.test(host) || !isDigest(digest))
    throw new RangeError(`not an image by digest (host/repository@sha256:…): ${JSON.stringify(text.slice(0, 300))}`);
  return { host, repository: checkRepository(name.slice(slash + 1)), digest };
}

export function formatImageReference({ host, repository, digest }: ImageReference): string {
  return `${host}/${repository}@${digest}`;
}
