/** Runs tasks, at most `limit` of them at the same time, in the order of the calls. */
export function slots(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  // A head index instead of shift(): with 100,000 waiting tasks shift() alone takes seconds.
  let waiting: (() => void)[] = [];
  let head = 0;

  const next = (): void => {
    const start = waiting[head];
    if (start === undefined) {
      running -= 1;
      return;
    }
    head += 1;
    if (head > 1024 && head * 2 > waiting.length) {
      waiting = waiting.slice(head);
      head = 0;
    }
    start();
  };

  return async (task) => {
    if (running < limit) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      next();
    }
  };
}
