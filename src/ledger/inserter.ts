import type { Facts } from '../pipeline/file/facts.ts';

/** Rows inserted in one transaction at most: one durable write for a burst of new files. */
const insertBatch = 500;

/** Collects what is inserted in one turn of the event loop into one transaction. */
export function createInserter(write: (batch: readonly Facts[]) => Promise<void>): (facts: Facts) => Promise<void> {
  let pending: { facts: Facts; resolve: () => void; reject: (error: unknown) => void }[] = [];
  const flush = async (): Promise<void> => {
    const batch = pending.slice(0, insertBatch);
    pending = pending.slice(insertBatch);
    if (pending.length > 0) setImmediate(() => void flush());
    await write(batch.map(({ facts }) => facts)).then(
      () => batch.forEach(({ resolve }) => resolve()),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    );
  };
  return (facts) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(() => void flush());
      pending.push({ facts, resolve, reject });
    });
}
