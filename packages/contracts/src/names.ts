import { createHash } from "node:crypto";

/** API group and version of every custom resource. */
export const API_GROUP = "sless.kube5s.ru";
export const API_VERSION = "v1alpha1";
export const API_GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** Namespace in which a release lives unless the operator names another. */
export const DEFAULT_SYSTEM_NAMESPACE = "sless";

const TENANT_NAMESPACE = /^sless-[0-9a-f]{16}$/;
const WORKLOAD_PREFIX = "sless-fn-";

/**
 * Names of functions, triggers, jobs and traffic tags: 1–40 characters, a DNS label that starts with a letter, and no
 * `--`, which is the separator of derived host names (`<tag>--<function>-<tenant>`).
 */
export const NAME_PATTERN = "^[a-z]([a-z0-9]|-[a-z0-9])*$";
export const NAME_MAX_LENGTH = 40;

/** What identifies a tenant: the issuer of its tokens and the value of the tenant claim. */
export interface TenantIdentity {
  readonly issuer: string;
  readonly claim: string;
  /** True for every issuer but the first configured one: its claims are hashed together with the issuer. */
  readonly secondary: boolean;
}

/** Full hash of a tenant, 64 hex digits: sha256 of the claim, or of `issuer\nclaim` for a second issuer. */
export const tenantHash = ({ issuer, claim, secondary }: TenantIdentity): string =>
  createHash("sha256")
    .update(secondary ? `${issuer}\n${claim}` : claim, "utf8")
    .digest("hex");

/** Namespace of a tenant's resources, also the name of its Tenant object. */
export const tenantNamespace = (hash: string): string => `sless-${hash.slice(0, 16)}`;

/** True for a name of the form that `tenantNamespace` makes. It says nothing about whether such a tenant exists. */
export const isTenantNamespace = (namespace: string): boolean => TENANT_NAMESPACE.test(namespace);

/** Namespace in which a tenant's code runs. */
export const workloadNamespace = (tenantNs: string): string => WORKLOAD_PREFIX + tenantNs;

/** The tenant namespace that a workload namespace belongs to; undefined for a name of another form. */
export const tenantOfWorkloadNamespace = (namespace: string): string | undefined => {
  const tenant = namespace.startsWith(WORKLOAD_PREFIX) ? namespace.slice(WORKLOAD_PREFIX.length) : "";
  return isTenantNamespace(tenant) ? tenant : undefined;
};

/** Name of the nth version of a function: `hello-00007`. Versions above 99,999 simply get longer. */
export const versionName = (functionName: string, version: number): string =>
  `${functionName}-${String(version).padStart(5, "0")}`;

/** First eight hex digits of the tenant's hash: the tenant's part of a default host. */
export const tenantShort = (tenantNs: string): string => tenantNs.slice("sless-".length, "sless-".length + 8);

/** Default host of a function, one label below the functions' domain; a traffic tag goes before it with `--`. */
export const defaultHost = (functionName: string, tenantNs: string, domain: string, tag?: string): string =>
  `${tag === undefined ? "" : `${tag}--`}${functionName}-${tenantShort(tenantNs)}.${domain}`;

/** Name of the object that claims a canonical host for one tenant: creating it is the atomic step. */
export const hostClaimName = (canonicalHost: string): string =>
  `host-${createHash("sha256").update(canonicalHost, "utf8").digest("hex").slice(0, 40)}`;

const CODE_DIGEST = /^[0-9a-f]{64}$/;

/** True for 64 lower-case hex digits. */
export const isCodeDigest = (value: string): boolean => CODE_DIGEST.test(value);

/**
 * Key of a code layer in the object store.
 * @throws RangeError when a part is not of its form; a key is never made of unchecked text.
 */
export const artifactKey = (tenantNs: string, functionUid: string, codeDigest: string): string => {
  if (!isTenantNamespace(tenantNs)) throw new RangeError(`not a tenant namespace: ${tenantNs}`);
  if (!/^[0-9a-f-]{8,64}$/i.test(functionUid)) throw new RangeError(`not a uid: ${functionUid}`);
  if (!isCodeDigest(codeDigest)) throw new RangeError(`not a code digest: ${codeDigest}`);
  return `${tenantNs}/${functionUid}/${codeDigest}.tar.gz`;
};

/** Prefix below which everything of one function lies in the object store. */
export const artifactPrefix = (tenantNs: string, functionUid: string): string => `${tenantNs}/${functionUid}/`;

/** The digest that a key names, if the key is exactly the one that `artifactKey` makes for this function. */
export const digestOfArtifactKey = (key: string, tenantNs: string, functionUid: string): string | undefined => {
  const prefix = artifactPrefix(tenantNs, functionUid);
  const digest = key.startsWith(prefix) ? key.slice(prefix.length).replace(/\.tar\.gz$/, "") : "";
  return isCodeDigest(digest) && key === `${prefix}${digest}.tar.gz` ? digest : undefined;
};
