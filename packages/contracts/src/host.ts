import { domainToASCII } from "node:url";

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Canonical form of a host: lower case, punycode, no port, no trailing dot. Hosts are compared only in this form.
 * @returns undefined for anything that is no DNS name: an address, an empty label, a wildcard, user info, white space.
 */
export const canonicalHost = (raw: string): string | undefined => {
  if (raw.length === 0 || raw.length > 512 || /[\s/\\@?#%]/.test(raw)) return undefined;
  const withoutPort = raw.replace(/:\d{1,5}$/, "").replace(/\.$/, "");
  const ascii = domainToASCII(withoutPort).toLowerCase();
  if (ascii.length === 0 || ascii.length > 253) return undefined;
  const labels = ascii.split(".");
  const isAddress = /^\d+$/.test(labels.at(-1) ?? "");
  return !isAddress && labels.every((label) => LABEL.test(label)) ? ascii : undefined;
};

/** True when `host` is `domain` or lies below it. Both canonical. */
export const isWithinDomain = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
