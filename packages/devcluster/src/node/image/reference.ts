import { ImageError } from "./unpack-layer.js";

export interface ImageReference {
  /** `host:port` of the registry. */
  host: string;
  repository: string;
  /** Tag or digest. */
  reference: string;
}

const PATTERN =
  /^([a-z0-9.-]{1,255}(?::\d{1,5})?)\/([a-z0-9._/-]{1,255})(?::([A-Za-z0-9_][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/**
 * Splits `host[:port]/repository[:tag][@digest]`; the digest wins over the tag.
 * @throws ImageError for a name without a registry: there is no default one here
 */
export const parseImageReference = (image: string): ImageReference => {
  const match = PATTERN.exec(image);
  const [, host = "", repository = "", tag, digest] = match ?? [];
  if (!match || !/[.:]|^localhost$/.test(host)) {
    throw new ImageError(`couldn't parse image name "${image.slice(0, 300)}": it must begin with a registry's host`);
  }
  return { host, repository, reference: digest ?? tag ?? "latest" };
};
