import { setTimeout as delay } from "node:timers/promises";
import {
  FUNCTION_VERSIONS,
  FUNCTIONS,
  GATEWAY_REPORTS,
  LABELS,
  TENANTS,
  TRIGGERS,
  type Function,
  type FunctionVersion,
  type RuntimeEntry,
  type Tenant,
  type Trigger,
} from "@sless/contracts";
import { leases, microTime, objectKeyOf, type KubeObject, type Resource } from "@sless/kube";
import { createFakeKubeClient, createMemoryLogger, eventually, type FakeKubeClient } from "@sless/kube/testing";
import { BASE_IMAGE } from "@sless/testing";
import { createControllers, type ControllersOptions } from "../app.js";
import { createFakeArtifacts, type FakeArtifacts } from "./fake-artifacts.js";
import { createFakeImages, type FakeImages } from "./fake-images.js";
import { createFakeKubelet, type FakeKubelet } from "./fake-kubelet.js";

export const SYSTEM_NAMESPACE = "sless";
export const DOMAIN = "fn.test";

export const RUNTIMES: readonly RuntimeEntry[] = [
  { name: "nodejs20", image: BASE_IMAGE, family: "nodejs", deprecated: false },
  {
    name: "python3.11",
    image: BASE_IMAGE,
    family: "python",
    deprecated: false,
    unavailable: "Python 3.11 is not here",
  },
];

/** A running set of controllers over a fake API server, with everything around it faked and steerable. */
export interface World {
  readonly client: FakeKubeClient;
  readonly logger: ReturnType<typeof createMemoryLogger>;
  readonly images: FakeImages;
  readonly artifacts: FakeArtifacts;
  readonly kubelet: FakeKubelet;
  fn(name?: string): Function;
  trigger(name?: string): Trigger;
  tenant(): Tenant;
  versions(): FunctionVersion[];
  version(number: number): FunctionVersion | undefined;
  /** Changes the spec of an object as a user would. */
  edit<T extends KubeObject>(resource: Resource<T>, object: T, spec: object): Promise<void>;
  /** A gateway's report and Lease, as far as it has applied Functions; `observed: "all"` follows every change. */
  report(gateway: string, observed: string): Promise<void>;
  /** Waits for a state; a failure prints the Function's status. */
  until(description: string, condition: () => boolean): Promise<void>;
  /** Resolves when nothing has been written for a while: everything that was going to happen has. */
  settle(): Promise<void>;
  /** Ends the controllers as a leader that goes, and waits for them. */
  stop(): Promise<void>;
  /** Starts controllers without memory over the same API server, as a new leader. */
  restart(): Promise<void>;
}

export interface WorldOptions {
  readonly given: readonly KubeObject[];
  readonly options?: Partial<ControllersOptions>;
  /** Puts in place what was there before the controllers. */
  readonly plant?: (client: FakeKubeClient) => unknown;
  readonly failBuilds?: Error;
  readonly holdBuilds?: boolean;
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  Tenant: TENANTS,
  Function: FUNCTIONS,
  FunctionVersion: FUNCTION_VERSIONS,
  Trigger: TRIGGERS,
};

const seed = (client: FakeKubeClient, object: KubeObject): void => {
  const resource = RESOURCES[object.kind ?? ""];
  if (!resource) throw new TypeError(`the world knows no kind ${object.kind}`);
  client.seed(resource, object);
};

/** Everything here happens in memory: what did not happen within this time had no cause. */
const QUIET_MS = 50;

const TENANT = "sless-0123456789abcdef";

export const createWorld = async ({ given, options = {}, ...extra }: WorldOptions): Promise<World> => {
  const client = createFakeKubeClient({ withoutStatusSubresource: ["GatewayReport"] });
  const logger = createMemoryLogger();
  const images = createFakeImages();
  const artifacts = createFakeArtifacts();
  const kubelet = createFakeKubelet(client, logger);
  const around = new AbortController();
  void kubelet.run(around.signal);
  for (const object of given) seed(client, object);
  extra.plant?.(client);
  images.failWith(extra.failBuilds);
  if (extra.holdBuilds) images.hold();

  const start = async () => {
    const controllers = createControllers({
      client,
      images,
      artifacts,
      runtimes: RUNTIMES,
      hosts: { functionsDomain: DOMAIN, reservedHosts: ["api.test"] },
      url: { scheme: "https", port: undefined },
      systemNamespace: SYSTEM_NAMESPACE,
      installation: "test",
      startSeconds: 60,
      maxBodyBytes: 6_291_456,
      workers: 4,
      logger,
      ...options,
    });
    const abort = new AbortController();
    const running = Promise.all([controllers.follow(abort.signal), controllers.lead(abort.signal)]);
    await controllers.synced;
    return async () => {
      abort.abort(new Error("the test is over"));
      await running;
    };
  };
  let stop = await start();

  const find = <T extends KubeObject>(resource: Resource<T>, name: string): T => {
    const found = client.objects(resource).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`there is no ${resource.kind} ${name}`);
    return found;
  };
  const describe = (): string =>
    JSON.stringify(
      [client.objects(FUNCTIONS), client.objects(FUNCTION_VERSIONS), client.objects(TRIGGERS)]
        .flat()
        .map(({ kind, metadata, status }) => ({ kind, name: metadata.name, status })),
      undefined,
      1,
    );

  return {
    client,
    logger,
    images,
    artifacts,
    kubelet,
    fn: (name = "hello") => find(FUNCTIONS, name),
    trigger: (name = "hello") => find(TRIGGERS, name),
    tenant: () => find(TENANTS, TENANT),
    versions: () => client.objects(FUNCTION_VERSIONS).sort((a, b) => a.spec.version - b.spec.version),
    version: (number) => client.objects(FUNCTION_VERSIONS).find(({ spec }) => spec.version === number),
    edit: async (resource, object, spec) => {
      await client.mergePatch(resource, objectKeyOf(object), { spec });
    },
    report: async (gateway, observed) => {
      const key = { name: gateway, namespace: SYSTEM_NAMESPACE };
      const renewTime = microTime(Date.now());
      await client.apply(
        leases,
        {
          metadata: { ...key, labels: { [LABELS.component]: "gateway" } },
          spec: { holderIdentity: gateway, leaseDurationSeconds: 15, renewTime },
        },
        { fieldManager: "gateway", force: true },
      );
      const status = { observedResourceVersion: observed, renewTime, versions: [] };
      const { apiVersion, kind } = { apiVersion: "sless.kube5s.ru/v1alpha1", kind: "GatewayReport" as const };
      await client.apply(
        GATEWAY_REPORTS,
        { apiVersion, kind, metadata: key, status },
        { fieldManager: "gateway", force: true },
      );
    },
    until: async (description, condition) => {
      try {
        await eventually(description, condition, 8_000);
      } catch (error) {
        throw new Error(`${description}\n${describe()}`, { cause: error });
      }
    },
    settle: async () => {
      let seen = -1;
      while (seen !== client.writes.length) {
        seen = client.writes.length;
        await delay(QUIET_MS);
      }
    },
    stop: async () => {
      await stop();
      around.abort(new Error("the test is over"));
    },
    restart: async () => {
      await stop();
      stop = await start();
    },
  };
};
