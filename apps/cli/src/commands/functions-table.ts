import type { FunctionBody, VersionBody } from "@sless/contracts";
import { age } from "../output/age.js";
import type { Formatting } from "../output/format.js";

const shares = (traffic: readonly { version: number; percent: number }[]): string =>
  traffic.length === 1
    ? `v${traffic[0]?.version}`
    : traffic.map(({ version, percent }) => `${percent}% v${version}`).join(", ");

export const functionFormatting = (now: number): Formatting<FunctionBody> => ({
  name: ({ name }) => name,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "runtime", value: ({ runtime }) => runtime },
    { title: "status", value: ({ status }) => status.phase },
    { title: "serving", value: ({ status }) => shares(status.traffic) || undefined },
    { title: "url", value: ({ status }) => status.url },
    { title: "age", value: ({ created_at }) => age(created_at, now) },
    { title: "memory", value: ({ memory_mb }) => `${memory_mb} MiB`, wide: true },
    { title: "timeout", value: ({ timeout_sec }) => `${timeout_sec} s`, wide: true },
    { title: "code", value: ({ code_digest }) => code_digest?.slice(0, 12), wide: true },
    { title: "message", value: ({ status }) => status.message, wide: true },
  ],
});

export const versionFormatting = (now: number): Formatting<VersionBody> => ({
  name: ({ version }) => String(version),
  columns: [
    { title: "version", value: ({ version }) => `v${version}` },
    { title: "status", value: ({ phase }) => phase },
    { title: "traffic", value: ({ percent }) => (percent > 0 ? `${percent}%` : undefined) },
    { title: "tags", value: ({ tags }) => tags.join(",") || undefined },
    { title: "code", value: ({ code_digest }) => code_digest.slice(0, 12) },
    { title: "age", value: ({ created_at }) => age(created_at, now) },
    { title: "runtime", value: ({ runtime }) => runtime, wide: true },
    { title: "entrypoint", value: ({ entrypoint }) => entrypoint, wide: true },
    {
      title: "build",
      value: ({ build }) => (build?.seconds === undefined ? undefined : `${build.seconds.toFixed(2)} s`),
      wide: true,
    },
    { title: "message", value: (version) => rollbackOf(version) ?? (version.message || undefined) },
  ],
});

/** Says of the version that a rollback chose why it answers. */
const rollbackOf = ({ pinned }: VersionBody): string | undefined =>
  pinned && `rolled back by ${pinned.by}${pinned.reason === undefined ? "" : `: ${pinned.reason}`}`;
