import { RegistryError } from "./errors.js";

const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MAX_NAME = 255;

export type Digest = `sha256:${string}`;

/**
 * Checks a repository name by the grammar of the distribution specification.
 * The names become folders: the grammar knows no empty, dot or underscore-led component, so none can leave its folder
 * or meet the registry's own (`_manifests`, `_layers`).
 * @throws RegistryError NAME_INVALID
 */
export const parseRepository = (name: string): string => {
  const fits = name.length <= MAX_NAME && name.split("/").every((part) => COMPONENT.test(part));
  if (!fits) throw new RegistryError("NAME_INVALID", "repository name must be lower-case components joined by /", name);
  return name;
};

/** @throws RegistryError TAG_INVALID */
export const parseTag = (tag: string): string => {
  if (!TAG.test(tag)) throw new RegistryError("TAG_INVALID", "a tag has 1 to 128 of letters, digits, . _ and -", tag);
  return tag;
};

export const isDigest = (text: string): text is Digest => DIGEST.test(text);

/** @throws RegistryError DIGEST_INVALID for any algorithm but sha256 */
export const parseDigest = (text: string | null | undefined): Digest => {
  if (!text || !isDigest(text)) {
    throw new RegistryError("DIGEST_INVALID", "digest must be sha256: and 64 lower-case hex digits", text ?? "");
  }
  return text;
};

export const digestHex = (digest: Digest): string => digest.slice("sha256:".length);
