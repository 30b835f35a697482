import type { Queued } from '../file/queue.ts';

/** How many files may be sent at once. */
export interface Limits {
  /** Of all folders together, from 1. */
  readonly uploads: number;
  /** Of single folders, by path. */
  readonly folderUploads: ReadonlyMap<string, number>;
}

/** Why a file has to wait although it is its turn: all slots are taken, the free one is kept for small files, or its folder has its share. */
export type NoSlot = 'all' | 'kept for small' | 'folder';

/** How many of the upload slots big files may have: one of two to seven is kept for small files, and one of each four from eight on. */
export function slotsForBig(uploads: number): number {
  return uploads === 1 ? 1 : uploads - Math.max(1, Math.floor(uploads / 4));
}

/**
 * Pure: why a file may not take a free slot next to these; null when it may. A running upload is never interrupted, so the slot for small
 * files has to be kept free of big ones. The bound of all uploads together is the queue's (`lanes.ts`).
 */
export function whyNoSlot(file: Queued, sending: readonly Queued[], limits: Limits): Exclude<NoSlot, 'all'> | null {
  return whyNot(file, sending, limits, 1);
}

/**
 * Pure: why a file gets no record yet beside these, which have one or are about to. Addresses expire, and a record without bytes is
 * litter: there are twice as many as slots. Big files get theirs only when they can be sent: a request is nothing beside their upload.
 */
export function whyNotAhead(file: Queued, ahead: readonly Queued[], limits: Limits): NoSlot | null {
  return whyNot(file, ahead, limits, 2) ?? (ahead.length >= 2 * limits.uploads ? 'all' : null);
}

function whyNot(
  { folder, isBig }: Queued,
  taken: readonly Queued[],
  { uploads, folderUploads }: Limits,
  perSlot: number,
): 'folder' | 'kept for small' | null {
  const ofFolder = taken.filter((other) => other.folder === folder);
  const most = folderUploads.get(folder) ?? Infinity;
  if (ofFolder.length >= most * perSlot || (isBig && bigOf(ofFolder) >= most)) return 'folder';
  return isBig && bigOf(taken) >= slotsForBig(uploads) ? 'kept for small' : null;
}

function bigOf(files: readonly Queued[]): number {
  return files.filter(({ isBig }) => isBig).length;
}
