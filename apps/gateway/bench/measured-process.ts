/** What a program under measurement says to the benchmark, over its IPC channel. */
export type Report = { readonly port: number } | { readonly cpuMicros: number };

const send = (report: Report): void => void process.send?.(report);

/** Tells the benchmark where this process serves, and from then on how much CPU it has used whenever it is asked. */
export const announce = (port: number): void => {
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    send({ cpuMicros: user + system });
  });
  process.on("disconnect", () => process.exit(0));
  send({ port });
};

/** The argument that every program here takes: the port of the pod that answers. */
export const upstreamPort = (): number => Number(process.argv[2]);
