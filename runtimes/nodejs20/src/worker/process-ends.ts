import type { CallTableWriter } from "./call-table-writer.js";

/**
 * Leaves the call table complete at each end that the function's code can bring about in JavaScript: the supervisor
 * then knows to the call what it owes.
 */
export const completeTableAtEnd = (table: CallTableWriter): void => {
  process.once("exit", () => table.complete({ aborted: false }));
  const abort = process.abort.bind(process);
  process.abort = () => {
    table.complete({ aborted: true });
    return abort();
  };
  const kill = process.kill.bind(process);
  process.kill = (pid, signal) => {
    // A signal that does not end the process leaves a complete table, too: the mirror goes on from there.
    if (pid === process.pid || pid <= 0) table.flush();
    return kill(pid, signal);
  };
};
