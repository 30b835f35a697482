import type { Daemon } from '../../daemon.ts';

/** The result of `POST /test-clip/ended`. */
export interface TestClipEnded {
  readonly v: 1;
  /** False: no such file. */
  readonly ok: boolean;
}

/** The reason recorded for a test clip. Explains why its video is gone. */
const why = 'a test clip: its video and its file were deleted on purpose';

/**
 * `POST /test-clip/ended`: records that the command which dropped a test clip has deleted its video and file, so that
 * the row needs no attention.
 */
export async function endTestClip(
  { rows, conductor }: Pick<Daemon, 'rows' | 'conductor'>,
  { id }: { readonly id: string },
): Promise<TestClipEnded> {
  await conductor.apply(id, { type: 'IGNORE', by: 'a test clip' });
  const facts = await rows.claim(id, (row) => row.write({ why }, why));
  return { v: 1, ok: facts !== null };
}
