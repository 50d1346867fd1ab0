import { z } from "zod";
import { LIMITS } from "../limits.js";
import { DEFAULT_SYSTEM_NAMESPACE } from "../names.js";
import { RuntimeName } from "../resources/fields.js";
import {
  address,
  flag,
  integer,
  json,
  list,
  maybeText,
  maybeUrl,
  oneOf,
  text,
  textOr,
  url,
  type ConfigOf,
} from "./variables.js";

/** One runtime that functions may use. */
export const RuntimeEntry = z.object({
  name: RuntimeName,
  /** Base image, by digest. */
  image: z.string().regex(/@sha256:[0-9a-f]{64}$/, "must name the image by digest"),
  family: z.enum(["nodejs", "python"]),
  deprecated: z.boolean().default(false),
  /** Why the runtime can't run here. */
  unavailable: z.string().max(200).optional(),
});
export type RuntimeEntry = z.infer<typeof RuntimeEntry>;
export const RuntimeCatalogue = z.array(RuntimeEntry).min(1).max(50);

const common = {
  SLESS_SYSTEM_NAMESPACE: textOr(DEFAULT_SYSTEM_NAMESPACE, {
    example: "sless",
    description: "Namespace of this release.",
  }),
  SLESS_INSTALLATION_ID: textOr("sless", {
    example: "prod-1",
    description: "Mark on everything that this installation makes; two releases on one cluster need two.",
  }),
  SLESS_KUBECONFIG: maybeText({
    example: "/etc/sless/kubeconfig",
    description: "Kubeconfig file. Absent: the pod's service account.",
  }),
  SLESS_POD_NAME: textOr("local", {
    example: "sless-api-7d9",
    description: "Name of this replica; the chart sets it.",
  }),
  SLESS_LOG_LEVEL: oneOf(["debug", "info", "warn", "error"], "info", {
    example: "info",
    description: "Least level that is logged.",
  }),
  SLESS_HEALTH_LISTEN: address("0.0.0.0:9090", {
    example: "0.0.0.0:9090",
    description: "Where /livez, /readyz and /metrics are served.",
  }),
};

const runtimes = {
  SLESS_RUNTIMES: json(RuntimeCatalogue, {
    example: '[{"name":"nodejs20","family":"nodejs","image":"registry.example/sless/nodejs20@sha256:…"}]',
    description: "Runtimes that functions may use.",
  }),
};

const functionsUrl = {
  SLESS_FUNCTIONS_DOMAIN: text({
    example: "fn.example.com",
    description: "Domain below which functions get their hosts.",
  }),
  SLESS_FUNCTIONS_URL_SCHEME: oneOf(["https", "http"], "https", {
    example: "https",
    description: "Scheme of functions' URLs.",
  }),
  SLESS_FUNCTIONS_URL_PORT: maybeText({
    example: "8443",
    description: "Port in functions' URLs. Absent: the scheme's own.",
  }),
};

const internalKey = {
  SLESS_INTERNAL_KEY: text({
    example: "32 random bytes in base64",
    description: "Secret with which the API signs for whom it invokes; the same for API and gateway.",
    secret: true,
  }),
};

const s3 = {
  SLESS_S3_ENDPOINT: url({
    example: "https://s3.example.com",
    description: "Object store, as the platform reaches it.",
  }),
  SLESS_S3_PUBLIC_ENDPOINT: maybeUrl({
    example: "https://s3.public.example.com",
    description: "Object store as build pods reach it, for presigned URLs. Absent: the same.",
  }),
  SLESS_S3_REGION: textOr("us-east-1", { example: "ru-central1", description: "Region that requests are signed for." }),
  SLESS_S3_BUCKET: text({ example: "sless", description: "Bucket for code." }),
  SLESS_S3_ACCESS_KEY_ID: text({ example: "AKIA…", description: "Key of the object store.", secret: true }),
  SLESS_S3_SECRET_ACCESS_KEY: text({ example: "…", description: "Secret of that key.", secret: true }),
  SLESS_S3_FORCE_PATH_STYLE: flag(true, { example: "true", description: "Bucket in the path instead of the host." }),
};

/** Settings of the API. */
export const API_VARIABLES = {
  ...common,
  ...runtimes,
  ...functionsUrl,
  ...internalKey,
  ...s3,
  SLESS_LISTEN: address("0.0.0.0:8080", { example: "0.0.0.0:8080", description: "Where the REST API is served." }),
  SLESS_GATEWAY_INTERNAL_URL: url({
    example: "http://sless-gateway-internal:8081",
    description: "Internal listener of the gateways.",
  }),
  SLESS_AUTH_JWKS_URL: maybeUrl({
    example: "https://auth.example.com/.well-known/jwks.json",
    description: "Keys of the token issuer; https unless on loopback.",
  }),
  SLESS_AUTH_ISSUER: maybeText({
    example: "https://auth.example.com",
    description: "The only issuer that is accepted.",
  }),
  SLESS_AUTH_AUDIENCE: textOr("sless", { example: "sless", description: "Audience that tokens must name." }),
  SLESS_AUTH_TENANT_CLAIM: textOr("sub", {
    example: "sub",
    description: "Claim that says which tenant the caller is.",
  }),
  SLESS_AUTH_ADMIN_CLAIM: textOr("scope", {
    example: "scope",
    description: "Claim in which the admin scope may stand.",
  }),
  SLESS_AUTH_ADMIN_SCOPE: textOr("sless:admin", {
    example: "sless:admin",
    description: "Exact scope of an administrator.",
  }),
  SLESS_AUTH_INSECURE: flag(false, {
    example: "true",
    description: "Without a JWKS URL: accept any well-formed token. For development alone; never grants admin.",
  }),
  SLESS_MAX_UPLOAD_BYTES: integer(LIMITS.uploadBytes, 1024, 2 ** 31, {
    example: "52428800",
    description: "Largest zip of an upload.",
  }),
  SLESS_MAX_UNPACKED_BYTES: integer(LIMITS.unpackedBytes, 1024, 2 ** 33, {
    example: "262144000",
    description: "Largest code unpacked.",
  }),
  SLESS_MAX_ENTRIES: integer(LIMITS.entries, 1, 65_000, {
    example: "20000",
    description: "Most files and folders of a zip.",
  }),
  SLESS_MAX_BODY_BYTES: integer(LIMITS.callBodyBytes, 1024, 2 ** 30, {
    example: "6291456",
    description: "Largest body of a call.",
  }),
  SLESS_UPLOAD_WORKERS: integer(2, 1, 64, { example: "2", description: "Threads that read uploaded zips." }),
  SLESS_MAX_UPLOADS: integer(16, 1, 1000, {
    example: "16",
    description: "Uploads at once in this replica; a tenant gets a quarter.",
  }),
  SLESS_MAX_WAITS: integer(1000, 1, 100_000, {
    example: "1000",
    description: "Long polls and streams at once; a tenant gets a quarter.",
  }),
  SLESS_DRAIN_SECONDS: integer(30, 0, 3600, {
    example: "30",
    description: "Longest wait for requests in flight at shutdown.",
  }),
};
export type ApiConfig = ConfigOf<typeof API_VARIABLES>;

/** Settings of the controller. */
export const CONTROLLER_VARIABLES = {
  ...common,
  ...runtimes,
  ...functionsUrl,
  ...s3,
  SLESS_REGISTRY_URL: url({
    example: "https://registry.example.com",
    description: "Registry for functions' images, as the controller reaches it.",
  }),
  SLESS_REGISTRY_PULL_HOST: maybeText({
    example: "registry.example.com",
    description: "Host of the registry as nodes name it in image references. Absent: that of SLESS_REGISTRY_URL.",
  }),
  SLESS_REGISTRY_PREFIX: textOr("sless", {
    example: "sless",
    description: "Path in the registry below which tenants' repositories lie.",
  }),
  SLESS_REGISTRY_USERNAME: maybeText({ example: "sless", description: "Login of the registry." }),
  SLESS_REGISTRY_PASSWORD: maybeText({ example: "…", description: "Password of that login.", secret: true }),
  SLESS_RESERVED_HOSTS: list({
    example: "api.example.com,console.example.com",
    description: "Hosts that no tenant ever gets, nor what lies below them.",
  }),
  SLESS_LEASE_SECONDS: integer(15, 2, 600, { example: "15", description: "How long a silent leader keeps its lease." }),
  SLESS_WORKERS: integer(8, 1, 256, { example: "8", description: "Objects of one kind reconciled at once." }),
  SLESS_MAX_BODY_BYTES: integer(LIMITS.callBodyBytes, 1024, 2 ** 30, {
    example: "6291456",
    description: "Largest body of a call; the same as the gateway's.",
  }),
  SLESS_START_SECONDS: integer(120, 5, 3600, {
    example: "120",
    description: "How long a new version may take to become ready before it counts as failed.",
  }),
  SLESS_DRAIN_SECONDS: integer(30, 0, 3600, {
    example: "30",
    description: "Longest wait for work in flight at shutdown.",
  }),
};
export type ControllerConfig = ConfigOf<typeof CONTROLLER_VARIABLES>;

/** Settings of the gateway. */
export const GATEWAY_VARIABLES = {
  ...common,
  ...internalKey,
  SLESS_FUNCTIONS_DOMAIN: functionsUrl.SLESS_FUNCTIONS_DOMAIN,
  SLESS_PUBLIC_LISTEN: address("0.0.0.0:8080", {
    example: "0.0.0.0:8080",
    description: "Where HTTP triggers are served.",
  }),
  SLESS_INTERNAL_LISTEN: address("0.0.0.0:8081", { example: "0.0.0.0:8081", description: "Where the API invokes." }),
  SLESS_TRUSTED_PROXIES: list({
    example: "10.0.0.0/8,127.0.0.1/32",
    description: "Address ranges whose X-Forwarded-* headers are believed.",
  }),
  SLESS_MAX_BODY_BYTES: integer(LIMITS.callBodyBytes, 1024, 2 ** 30, {
    example: "6291456",
    description: "Largest body of a call.",
  }),
  SLESS_MAX_CALLS: integer(2000, 1, 1_000_000, {
    example: "2000",
    description: "Calls held at once in this replica; a tenant gets a quarter.",
  }),
  SLESS_MAX_QUEUED_PER_FUNCTION: integer(100, 0, 100_000, {
    example: "100",
    description: "Calls that wait for one function before others get 429.",
  }),
  SLESS_QUEUE_SECONDS: integer(10, 0, 900, { example: "10", description: "Longest wait for a free instance." }),
  SLESS_LEASE_SECONDS: integer(15, 2, 600, { example: "15", description: "How long a silent gateway still counts." }),
  SLESS_DRAIN_DELAY_SECONDS: integer(5, 0, 300, {
    example: "5",
    description: "How long new calls are still taken at shutdown, until nobody sends any more.",
  }),
  SLESS_DRAIN_SECONDS: integer(930, 0, 3600, {
    example: "930",
    description: "Longest wait for calls in flight at shutdown.",
  }),
};
export type GatewayConfig = ConfigOf<typeof GATEWAY_VARIABLES>;
