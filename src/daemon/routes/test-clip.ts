import type { Daemon } from '../daemon.ts';

/** The result of `POST /test-clip/ended`. */
export interface TestClipEnded {
  readonly v: 1;
  /** False: there is no such file. */
  readonly ok: boolean;
}

/** What the row of a test clip says from then on, so that nobody wonders where its video is. */
const why = 'a test clip: its video and its file were deleted on purpose';

/** `POST /test-clip/ended`: who dropped a test clip has deleted its video and file, and its row says so. */
export async function endTestClip(
  daemon: Pick<Daemon, 'rows'>,
  { id }: { readonly id: string },
): Promise<TestClipEnded> {
  const facts = await daemon.rows.claim(id, (row) => row.write({ why }, why));
  return { v: 1, ok: facts !== null };
}
