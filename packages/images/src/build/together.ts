/**
 * Runs tasks side by side. The first failure aborts the others through the signal they were given, and is thrown once
 * all have ended: nothing goes on writing behind the caller's back.
 */
export async function together<T extends readonly unknown[]>(
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => { [Index in keyof T]: Promise<T[Index]> },
): Promise<T> {
  const failed = new AbortController();
  const either = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const tasks = start(either);
  let first: { error: unknown } | undefined;
  for (const task of tasks)
    task.catch((error: unknown) => {
      first ??= { error };
      failed.abort(error);
    });
  await Promise.allSettled(tasks);
  if (first) throw first.error;
  return await Promise.all(tasks);
}
