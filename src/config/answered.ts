/** How long a look at a folder may take before the folder counts as away. */
const patienceMs = 5_000;

/**
 * What a look at a folder has found, or null when it takes longer than 5 s: every call on a share whose server is gone may hang for
 * ever (`hard` in nfs(5)), and that must not keep other folders from being served.
 */
export async function answered<T>(look: Promise<T>): Promise<T | null> {
  const { promise: isOver, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), patienceMs);
  try {
    return await Promise.race([look, isOver]);
  } finally {
    clearTimeout(timer);
  }
}
