import type { RuntimeEntry } from "@sless/contracts";

/** Domain of functions on one machine: browsers and curl resolve everything below `localhost` to loopback. */
export const LOCAL_FUNCTIONS_DOMAIN = "fn.localhost";
export const BUCKET = "sless";
export const LOCAL_AUDIENCE = "sless";

/** Where the parts of the platform on one machine are, and how they trust each other. */
export interface PlatformAddresses {
  /** PATH of the components. */
  readonly path: string;
  /** Temporary files of the components; emptied at each start, since a killed one leaves its own. */
  readonly tmpDir: string;
  readonly kubeconfig: string;
  readonly apiPort: number;
  readonly gatewayPort: number;
  readonly gatewayInternalPort: number;
  readonly healthPorts: Readonly<Record<ComponentName, number>>;
  readonly registry: { readonly url: string; readonly username: string; readonly password: string };
  readonly s3: {
    readonly endpoint: string;
    readonly region: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  readonly issuer: { readonly issuer: string; readonly jwksUrl: string };
  readonly internalKey: string;
  readonly runtimes: readonly RuntimeEntry[];
}

export const COMPONENTS = ["api", "controller", "gateway"] as const;
export type ComponentName = (typeof COMPONENTS)[number];

const common = (at: PlatformAddresses, component: ComponentName): Record<string, string> => ({
  PATH: at.path,
  TMPDIR: at.tmpDir,
  SLESS_KUBECONFIG: at.kubeconfig,
  SLESS_POD_NAME: `local-${component}`,
  SLESS_HEALTH_LISTEN: `127.0.0.1:${at.healthPorts[component]}`,
});

const s3 = (at: PlatformAddresses): Record<string, string> => ({
  SLESS_S3_ENDPOINT: at.s3.endpoint,
  SLESS_S3_REGION: at.s3.region,
  SLESS_S3_BUCKET: BUCKET,
  SLESS_S3_ACCESS_KEY_ID: at.s3.accessKeyId,
  SLESS_S3_SECRET_ACCESS_KEY: at.s3.secretAccessKey,
});

const functions = (at: PlatformAddresses): Record<string, string> => ({
  SLESS_RUNTIMES: JSON.stringify(at.runtimes),
  SLESS_FUNCTIONS_DOMAIN: LOCAL_FUNCTIONS_DOMAIN,
  SLESS_FUNCTIONS_URL_SCHEME: "http",
  SLESS_FUNCTIONS_URL_PORT: String(at.gatewayPort),
});

/** The whole environment of each component, built from nothing. */
export const makeEnvironment: Readonly<Record<ComponentName, (at: PlatformAddresses) => Record<string, string>>> = {
  api: (at) => ({
    ...common(at, "api"),
    ...s3(at),
    ...functions(at),
    SLESS_LISTEN: `127.0.0.1:${at.apiPort}`,
    SLESS_GATEWAY_INTERNAL_URL: `http://127.0.0.1:${at.gatewayInternalPort}`,
    SLESS_INTERNAL_KEY: at.internalKey,
    SLESS_AUTH_JWKS_URL: at.issuer.jwksUrl,
    SLESS_AUTH_ISSUER: at.issuer.issuer,
    SLESS_AUTH_AUDIENCE: LOCAL_AUDIENCE,
    SLESS_DRAIN_SECONDS: "5",
  }),
  controller: (at) => ({
    ...common(at, "controller"),
    ...s3(at),
    ...functions(at),
    SLESS_REGISTRY_URL: at.registry.url,
    SLESS_REGISTRY_USERNAME: at.registry.username,
    SLESS_REGISTRY_PASSWORD: at.registry.password,
    SLESS_LEASE_SECONDS: "4",
    SLESS_DRAIN_SECONDS: "5",
  }),
  gateway: (at) => ({
    ...common(at, "gateway"),
    SLESS_PUBLIC_LISTEN: `127.0.0.1:${at.gatewayPort}`,
    SLESS_INTERNAL_LISTEN: `127.0.0.1:${at.gatewayInternalPort}`,
    SLESS_INTERNAL_KEY: at.internalKey,
    SLESS_FUNCTIONS_DOMAIN: LOCAL_FUNCTIONS_DOMAIN,
    SLESS_LEASE_SECONDS: "4",
    // Clients on one machine learn of the end at once: no load balancer has to take it out first.
    SLESS_DRAIN_DELAY_SECONDS: "0",
    SLESS_DRAIN_SECONDS: "5",
  }),
};
