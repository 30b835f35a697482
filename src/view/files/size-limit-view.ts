import type { NoteStore } from '../../pipeline/file/ports.ts';
import { learnedLimitOf, sizeLimitNote, type LearnedLimit } from '../../pipeline/file/size-limit.ts';

/** The limit on the size of files that was learned from an upload host. */
export interface SizeLimitView {
  readonly v: 1;
  readonly learned: LearnedLimit | null;
}

/** @param ledger null: none was ever written */
export async function sizeLimitOf(ledger: Pick<NoteStore, 'note'> | null): Promise<SizeLimitView> {
  return { v: 1, learned: ledger === null ? null : learnedLimitOf(await ledger.note(sizeLimitNote)) };
}
