import { RuntimeCatalogue, type RuntimeEntry } from "@sless/contracts";
import { createLayerPool, type LayerPool } from "@sless/images";
import { createMetrics, type Metrics } from "@sless/telemetry";
import { Agent, type Dispatcher } from "undici";
import { createApp, type AppConfig } from "../app.js";
import { createAuthenticator } from "../auth/authenticator.js";
import { createJwksFetcher } from "../auth/fetch-jwks.js";
import { createJwks } from "../auth/jwks.js";
import { createForwarder } from "../invoke/forward.js";
import { createClusterView } from "../platform/cluster-view.js";
import { createApiMetrics } from "../platform/metrics.js";
import { startServer, type ApiServer } from "../server.js";
import { startTestCluster, type TestCluster } from "./cluster.js";
import { startFakeGateway, type FakeGateway } from "./gateway.js";
import { startTestIssuer, TEST_AUDIENCE, TEST_ISSUER, type TestIssuer } from "./issuer.js";
import { createMemoryArtifacts, type MemoryArtifacts } from "./memory-artifacts.js";
import { findMismatch } from "./openapi-check.js";

export interface Replica {
  readonly url: string;
  readonly metrics: Metrics;
  /** Lines that were logged. */
  readonly logged: string[];
  readonly drain: () => void;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly json?: unknown;
  readonly body?: Dispatcher.DispatchOptions["body"];
  readonly headers?: Record<string, string>;
  readonly replica?: Replica;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, lines of JSON, text, or undefined. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies whose form they then check
  readonly body: any;
}

/** The whole API over real HTTP: real API server, issuer and layer pool; store and gateway stand in. */
export interface ApiFixture {
  readonly cluster: TestCluster;
  readonly issuer: TestIssuer;
  readonly artifacts: MemoryArtifacts;
  readonly gateway: FakeGateway;
  readonly replica: Replica;
  addReplica(config?: Partial<AppConfig>): Promise<Replica>;
  /** One request; its answer is held against the OpenAPI document. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export const RUNTIMES: readonly RuntimeEntry[] = RuntimeCatalogue.parse([
  { name: "nodejs20", family: "nodejs", image: `registry.test/sless/nodejs20@sha256:${"a".repeat(64)}` },
  {
    name: "python3.11",
    family: "python",
    image: `registry.test/sless/python@sha256:${"b".repeat(64)}`,
    unavailable: "Python 3.11 is not on this machine",
  },
]);

export const INTERNAL_KEY = "test-internal-key-of-32-bytes!!!";

const CONFIG: AppConfig = {
  SLESS_FUNCTIONS_DOMAIN: "fn.test",
  SLESS_INTERNAL_KEY: INTERNAL_KEY,
  SLESS_MAX_UPLOAD_BYTES: 4 * 1024 * 1024,
  SLESS_MAX_BODY_BYTES: 64 * 1024,
  SLESS_MAX_UPLOADS: 16,
  SLESS_MAX_WAITS: 40,
};

const createCapture = () => {
  const lines: string[] = [];
  const log = (fields: object, message: string): void => {
    lines.push(
      JSON.stringify({ ...fields, message }, (_key, value: unknown) => (value instanceof Error ? value.stack : value)),
    );
  };
  return { lines, logger: { debug: log, info: log, warn: log, error: log } };
};

interface Shared {
  readonly cluster: TestCluster;
  readonly issuer: TestIssuer;
  readonly artifacts: MemoryArtifacts;
  readonly gateway: FakeGateway;
  readonly layers: LayerPool;
}

const startReplica = async (shared: Shared, config: AppConfig): Promise<Replica> => {
  const { cluster, issuer, artifacts, gateway, layers } = shared;
  const kube = await cluster.connect();
  const { lines, logger } = createCapture();
  const metrics = createMetrics({ component: "api" });
  const apiMetrics = createApiMetrics(metrics);
  const view = createClusterView(kube, logger);
  const stop = new AbortController();
  const drain = new AbortController();
  const running = view.run(stop.signal);
  const forwarder = createForwarder({ gatewayUrl: gateway.url, headTimeoutMs: 5_000 });
  const app = createApp({
    config,
    runtimes: RUNTIMES,
    kube,
    cluster: view,
    authenticator: createAuthenticator({
      jwks: createJwks({ fetch: createJwksFetcher(issuer.jwksUrl) }),
      issuer: TEST_ISSUER,
      audience: TEST_AUDIENCE,
      tenantClaim: "sub",
      adminClaim: "scope",
      adminScope: "sless:admin",
    }),
    artifacts,
    layers,
    forwarder,
    observe: apiMetrics.observeRequest,
    logger,
    drain: drain.signal,
  });
  const server: ApiServer = await startServer(app, { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${server.address.port}`,
    metrics,
    logged: lines,
    drain: () => drain.abort(),
    close: async () => {
      drain.abort();
      await server.close(1_000);
      stop.abort(new Error("the test is over"));
      await Promise.all([running, forwarder.close()]);
      kube.close();
    },
  };
};

const parseText = (text: string, mediaType: string): unknown => {
  if (text === "") return undefined;
  if (mediaType === "application/x-ndjson") {
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  }
  return mediaType.endsWith("json") ? (JSON.parse(text) as unknown) : text;
};

export const startApiFixture = async (overrides: Partial<AppConfig> = {}): Promise<ApiFixture> => {
  const [cluster, issuer, gateway] = await Promise.all([startTestCluster(), startTestIssuer(), startFakeGateway()]);
  const artifacts = createMemoryArtifacts();
  const layers = createLayerPool({ workers: 1 });
  const shared = { cluster, issuer, artifacts, gateway, layers };
  const replica = await startReplica(shared, { ...CONFIG, ...overrides });
  const replicas = [replica];
  const agent = new Agent({ connections: 64 });

  const headersOf = ({ token, json, headers }: CallOptions): Record<string, string> => ({
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(json !== undefined && { "content-type": "application/json" }),
    ...headers,
  });

  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { json, body } = options;
    // By origin and path: a URL would be normalized.
    const answer = await agent.request({
      origin: (options.replica ?? replica).url,
      path,
      method: method,
      headers: headersOf(options),
      body: json === undefined ? (body ?? null) : JSON.stringify(json),
    });
    const text = await answer.body.text();
    const [mediaType = ""] = String(answer.headers["content-type"] ?? "").split(";");
    const seen = { status: answer.statusCode, headers: answer.headers, body: parseText(text, mediaType) };
    const mismatch = findMismatch({ method, path: path.replace(/\?.*$/, ""), mediaType, ...seen });
    if (mismatch !== undefined) throw new Error(`not true to /openapi.json: ${mismatch}`);
    return seen;
  };

  return {
    cluster,
    issuer,
    artifacts,
    gateway,
    replica,
    call,
    addReplica: async (config = {}) => {
      const added = await startReplica(shared, { ...CONFIG, ...overrides, ...config });
      replicas.push(added);
      return added;
    },
    close: async () => {
      await agent.destroy();
      await Promise.all(replicas.map((each) => each.close()));
      await Promise.all([layers.close(), gateway.close(), issuer.close(), cluster.close()]);
    },
  };
};
