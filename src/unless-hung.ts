/**
 * Returns the result of file system calls, or null if they take longer than `afterMs`. Any call on a share whose server
 * is gone may hang forever (`hard` in nfs(5)), and the other folders must not wait for it.
 */
export async function unlessHung<T>(calls: Promise<T>, afterMs = HUNG_AFTER_MS): Promise<T | null> {
  const { promise: isHung, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), afterMs);
  try {
    return await Promise.race([calls, isHung]);
  } finally {
    clearTimeout(timer);
  }
}

const HUNG_AFTER_MS = 5_000;
