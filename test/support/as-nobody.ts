/** The user and group that own nothing. */
const nobody = 65_534;

/** Lets this process be a user who may read nothing but what all may: root may read everything. Anybody else stays who they are. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return await work();
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
