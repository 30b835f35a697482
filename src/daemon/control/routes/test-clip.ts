import type { Daemon } from '../../daemon.ts';

/** The result of `POST /test-clip/ended`. */
export interface TestClipEnded {
  readonly v: 1;
  /** False: there is no such file. */
  readonly ok: boolean;
}

/** The reason in the row of a test clip, which explains where its video is. */
const why = 'a test clip: its video and its file were deleted on purpose';

/**
 * `POST /test-clip/ended`: the command that dropped a test clip has deleted its video and file. The row says so, and
 * needs no one.
 */
export async function endTestClip(
  { rows, conductor }: Pick<Daemon, 'rows' | 'conductor'>,
  { id }: { readonly id: string },
): Promise<TestClipEnded> {
  await conductor.apply(id, { type: 'IGNORE', by: 'a test clip' });
  const facts = await rows.claim(id, (row) => row.write({ why }, why));
  return { v: 1, ok: facts !== null };
}
