import { setTimeout as delay } from "node:timers/promises";
import type { Probe } from "../objects.js";
import type { ProcessSpec, ProcessSupervisor } from "../process/supervisor.js";
import type { ContainerContext } from "./container-runner.js";
import type { ContainerRun } from "./container-run.js";
import type { EventRecorder } from "./events.js";
import type { ProbeTarget } from "./probe.js";
import { runProber } from "./prober.js";

export interface ProbeDeps {
  supervisor: ProcessSupervisor;
  events: EventRecorder;
  spec: ProcessSpec;
  context: ContainerContext;
}

const TIMED_OUT = -1;

const runCommand = async ({ supervisor, spec }: ProbeDeps, command: string[], timeoutMs: number): Promise<number> => {
  const [file = "", ...args] = command;
  const running = supervisor.spawn({ ...spec, command: file, args });
  running.stdout.resume();
  running.stderr.resume();
  const stop = new AbortController();
  const timeout = delay(timeoutMs, TIMED_OUT, { signal: stop.signal }).catch(() => TIMED_OUT);
  const code = await Promise.race([running.exit.then((exit) => exit.code), timeout]);
  stop.abort();
  running.killGroup();
  return code;
};

/**
 * Runs a container's probes while its process lives: startup first, then readiness and liveness side by side. Writes
 * `started` and `ready` into its status and stops the process when it is found dead.
 * @returns ends the probing
 */
export const superviseProbes = (deps: ProbeDeps, run: ContainerRun): (() => void) => {
  const { context, events } = deps;
  const { status, publish } = context;
  const { container, address, pod } = context.setup;
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const ended = new AbortController();
  const target: ProbeTarget = {
    ip: address.ip,
    ports: container.ports ?? [],
    realPort: (port) => address.ports.get(port) ?? port,
    exec: (command, timeoutMs) => runCommand(deps, command, timeoutMs),
  };

  const supervise = (kind: string, probe: Probe, onChange: (ok: boolean) => void, untilSuccess = false): void => {
    const onFailure = (message: string): void =>
      events.record(pod, "Warning", "Unhealthy", `${kind} probe failed: ${message}`);
    void runProber({ probe, target, untilSuccess }, { onChange, onFailure }, ended.signal);
  };
  const restart = (kind: string): void => {
    events.record(pod, "Normal", "Killing", `Container ${container.name} failed ${kind} probe, will be restarted`);
    run.stop((pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
  };
  const setReady = (ready: boolean): void => {
    status.ready = ready;
    publish();
  };
  const onStarted = (): void => {
    status.started = true;
    status.ready = readinessProbe === undefined;
    publish();
    if (readinessProbe) supervise("Readiness", readinessProbe, setReady);
    if (livenessProbe) supervise("Liveness", livenessProbe, (ok) => !ok && restart("liveness"));
  };

  if (!startupProbe) onStarted();
  else {
    publish();
    supervise("Startup", startupProbe, (ok) => (ok ? onStarted() : restart("startup")), true);
  }
  return () => ended.abort();
};
