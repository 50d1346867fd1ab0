import { FIELD_MANAGERS, GATEWAY_REPORTS } from "@sless/contracts";
import type { VersionLoad } from "@sless/invoker";
import type { KubeClient, Logger } from "@sless/kube";
import { makeReport, makeReportedVersions } from "./make-report.js";
import { createPresenceLease, ignoreNotFound, type Identity } from "./presence-lease.js";

export interface ReporterOptions {
  readonly client: Pick<KubeClient, "apply" | "delete">;
  readonly identity: Identity;
  readonly leaseSeconds: number;
  readonly loads: () => readonly VersionLoad[];
  readonly logger: Logger;
}

export interface Reporter {
  /** Functions are applied up to this resource version. */
  observed(resourceVersion: string): void;
  /** The traffic of a Function changed: a deploy waits for the acknowledgement, which is written at once. */
  trafficChanged(): void;
  /** Stops, and removes report and Lease, so that nobody waits for this gateway. */
  stop(): Promise<void>;
}

/** Reports are written at most this often, */
const REPORT_INTERVAL_MS = 1_000;
/** but for a change of traffic, which is collected for so long. */
const URGENT_DELAY_MS = 20;
const WRITE_TIMEOUT_MS = 5_000;
/** Renewals per duration of the Lease: two may fail. */
const RENEWALS = 3;

/**
 * Tells the controller, through the API server, what this gateway has applied and carries. A write that fails is tried
 * again with the next tick; the latest state is what counts.
 */
export const startReporter = ({ client, identity, leaseSeconds, loads, logger }: ReporterOptions): Reporter => {
  const lease = createPresenceLease(client, identity, leaseSeconds);
  let observed: string | undefined;
  let written = "";
  let urgent: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let stopped = false;

  const write = async (): Promise<void> => {
    const versions = makeReportedVersions(loads());
    const content = JSON.stringify([observed, versions]);
    if (stopped || observed === undefined || content === written) return;
    const report = makeReport(identity, observed, versions);
    const options = { fieldManager: FIELD_MANAGERS.gateway, force: true, timeoutMs: WRITE_TIMEOUT_MS };
    await client.apply(GATEWAY_REPORTS, report, options);
    written = content;
  };

  /** One write after the other, so that an older report never overtakes a newer one. */
  const enqueue = (what: string, task: () => Promise<void>): void => {
    underWay = underWay
      .then(() => (stopped ? undefined : task()))
      .catch((err: unknown) => logger.warn({ err }, `${what} can't be written; trying again`));
  };

  const renew = (): void => enqueue("lease", () => lease.renew());
  const report = (): void => enqueue("report", write);
  const timers: NodeJS.Timeout[] = [];

  /** Not before the first state is applied: a gateway that counts but has no report would hold up every deploy. */
  const start = (): void => {
    report();
    renew();
    timers.push(setInterval(renew, (leaseSeconds * 1000) / RENEWALS), setInterval(report, REPORT_INTERVAL_MS));
  };

  return {
    observed: (resourceVersion) => {
      if (stopped) return;
      const isFirst = observed === undefined;
      observed = resourceVersion;
      if (isFirst) start();
    },
    trafficChanged: () => {
      urgent ??= setTimeout(() => {
        urgent = undefined;
        report();
      }, URGENT_DELAY_MS);
    },
    stop: async () => {
      stopped = true;
      timers.forEach(clearInterval);
      clearTimeout(urgent);
      await underWay;
      const removed = await Promise.allSettled([
        client.delete(GATEWAY_REPORTS, identity, { timeoutMs: WRITE_TIMEOUT_MS }).catch(ignoreNotFound),
        lease.remove(),
      ]);
      for (const result of removed) {
        if (result.status === "rejected")
          logger.warn({ err: result.reason as unknown }, "report or lease stays behind");
      }
    },
  };
};
