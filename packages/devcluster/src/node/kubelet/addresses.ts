import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import type { Container } from "../objects.js";

export interface PodAddress {
  ip: string;
  /** Port to listen on by container port, where that is another: systems with one loopback address. */
  ports: ReadonlyMap<number, number>;
}

/** Gives every pod a place to listen on that no other pod of this machine has. */
export interface AddressPool {
  allocate(containers: readonly Container[]): Promise<PodAddress>;
  release(address: PodAddress): void;
  close(): Promise<void>;
}

/** Listening here on the first address of a network claims it, among all devclusters of the machine. */
const CLAIM_PORT = 47_110;
const CLAIM_ATTEMPTS = 64;
const HOSTS_PER_NETWORK = 254 * 254;

const listenOn = (host: string, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });

const closeServer = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Claims a network 127.x.0.0/16 of its own; undefined where only 127.0.0.1 can be listened on, as on macOS. */
const claimNetwork = async (): Promise<{ prefix: string; claim: Server } | undefined> => {
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    // Linux distributions use 127.0.0.0/16 and 127.1.0.0/16 themselves.
    const prefix = `127.${randomInt(2, 255)}`;
    try {
      return { prefix, claim: await listenOn(`${prefix}.0.1`, CLAIM_PORT) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRNOTAVAIL") return undefined;
    }
  }
  throw new Error(`no free loopback network in ${CLAIM_ATTEMPTS} attempts: stop other devclusters of this machine`);
};

/** One address for each pod, ports as the container names them. Addresses are used again as late as possible. */
const createAddressPerPod = (prefix: string, claim: Server): AddressPool => {
  const used = new Set<string>();
  let last = randomInt(HOSTS_PER_NETWORK);
  const next = (): string => {
    last = (last + 1) % HOSTS_PER_NETWORK;
    return `${prefix}.${1 + Math.floor(last / 254)}.${1 + (last % 254)}`;
  };
  return {
    allocate() {
      if (used.size >= HOSTS_PER_NETWORK) throw new Error("all pod addresses of the node are in use");
      let ip = next();
      while (used.has(ip)) ip = next();
      used.add(ip);
      return Promise.resolve({ ip, ports: new Map() });
    },
    release: ({ ip }) => void used.delete(ip),
    close: () => closeServer(claim),
  };
};

/** One address for all pods, each container port moved to a free one. */
const createPortPerPod = (): AddressPool => {
  const used = new Set<number>();
  const freePort = async (): Promise<number> => {
    const server = await listenOn("127.0.0.1", 0);
    const address = server.address();
    await closeServer(server);
    const port = typeof address === "object" && address ? address.port : 0;
    return used.has(port) ? freePort() : port;
  };
  return {
    async allocate(containers) {
      const ports = new Map<number, number>();
      for (const { containerPort } of containers.flatMap((container) => container.ports ?? [])) {
        const port = await freePort();
        used.add(port);
        ports.set(containerPort, port);
      }
      return { ip: "127.0.0.1", ports };
    },
    release: ({ ports }) => ports.forEach((port) => used.delete(port)),
    close: () => Promise.resolve(),
  };
};

/** @param singleAddress use one address as a system would that has but one; default: find out */
export const createAddressPool = async (singleAddress = false): Promise<AddressPool> => {
  const network = singleAddress ? undefined : await claimNetwork();
  return network ? createAddressPerPod(network.prefix, network.claim) : createPortPerPod();
};

/** Where the ports of a pod that listens elsewhere are written down for EndpointSlices: `{"8080": 40001}`. */
export const PORTS_ANNOTATION = "devcluster.sless.kube5s.ru/ports";
