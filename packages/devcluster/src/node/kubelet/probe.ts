import { request } from "node:http";
import { connect } from "node:net";
import type { ContainerPort, Probe } from "../objects.js";

export interface ProbeResult {
  ok: boolean;
  /** Why it failed, in the kubelet's words. */
  message: string;
}

export interface ProbeTarget {
  ip: string;
  ports: readonly ContainerPort[];
  /** Where a container port really listens. */
  realPort(containerPort: number): number;
  /** Runs a command beside the container's process; resolves to its exit code. */
  exec(command: string[], timeoutMs: number): Promise<number>;
}

const SUCCESS: ProbeResult = { ok: true, message: "" };
const failure = (message: string): ProbeResult => ({ ok: false, message });

const findPort = (target: ProbeTarget, port: number | string): number | undefined => {
  if (typeof port === "number") return target.realPort(port);
  const named = target.ports.find(({ name }) => name === port);
  return named && target.realPort(named.containerPort);
};

const probeHttp = (
  target: ProbeTarget,
  http: NonNullable<Probe["httpGet"]>,
  timeoutMs: number,
): Promise<ProbeResult> => {
  const port = findPort(target, http.port);
  if (port === undefined) return Promise.resolve(failure(`port ${http.port} is not named in the container`));
  if ((http.scheme ?? "HTTP") !== "HTTP")
    return Promise.resolve(failure("HTTPS probes are not supported by devcluster"));
  const headers = Object.fromEntries((http.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const path = http.path?.startsWith("/") ? http.path : `/${http.path ?? ""}`;
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const options = {
      host: target.ip,
      port,
      path,
      agent: false,
      signal,
      headers: { "User-Agent": "kube-probe/1.35", ...headers },
    };
    request(options, (res) => {
      const status = res.statusCode ?? 0;
      // The head decides; a body without end must not hold the probe up.
      res.destroy();
      resolve(status >= 200 && status < 400 ? SUCCESS : failure(`HTTP probe failed with statuscode: ${status}`));
    })
      .on("error", (error) => {
        const why = signal.aborted ? "context deadline exceeded" : error.message;
        resolve(failure(`Get "http://${target.ip}:${port}${path}": ${why}`));
      })
      .end();
  });
};

const probeTcp = (target: ProbeTarget, named: number | string, timeoutMs: number): Promise<ProbeResult> => {
  const port = findPort(target, named);
  if (port === undefined) return Promise.resolve(failure(`port ${named} is not named in the container`));
  return new Promise((resolve) => {
    const socket = connect({ host: target.ip, port, timeout: timeoutMs });
    const end = (result: ProbeResult): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => end(SUCCESS));
    socket.once("timeout", () => end(failure(`dial tcp ${target.ip}:${port}: i/o timeout`)));
    socket.once("error", (error) => end(failure(error.message)));
  });
};

/** Asks once. Never rejects; ends within the probe's timeout. */
export const runProbe = async (probe: Probe, target: ProbeTarget): Promise<ProbeResult> => {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.httpGet) return probeHttp(target, probe.httpGet, timeoutMs);
  if (probe.tcpSocket) return probeTcp(target, probe.tcpSocket.port, timeoutMs);
  if (!probe.exec) return failure("devcluster probes by httpGet, tcpSocket and exec only");
  const code = await target.exec(probe.exec.command, timeoutMs);
  return code === 0 ? SUCCESS : failure(`command exited with code ${code}`);
};
