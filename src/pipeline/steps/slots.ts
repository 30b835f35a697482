import type { Queued } from '../file/queue.ts';

/** How many files may be sent at once. */
export interface Limits {
  /** Of all folders together, from 1. */
  readonly uploads: number;
  /** Of single folders, by path. */
  readonly folderUploads: ReadonlyMap<string, number>;
}

/** Why a file has to wait although it is its turn. */
export type NoSlot = 'all' | 'kept for small' | 'folder';

/** How many of the upload slots big files may have: one of two to seven is kept for small files, and one of each four from eight on. */
export function slotsForBig(uploads: number): number {
  return uploads === 1 ? 1 : uploads - Math.max(1, Math.floor(uploads / 4));
}

/**
 * Pure: why a file cannot be sent beside these; null when it can. A file under way is never interrupted, so the slot that small files
 * find free has to be kept free of big ones.
 */
export function whyNoSlot(file: Queued, sending: readonly Queued[], limits: Limits): NoSlot | null {
  return whyNot(file, sending, { ...limits, big: slotsForBig(limits.uploads), perSlot: 1 });
}

/**
 * Pure: why a file gets no record yet beside these, which have one or are about to. Addresses expire, and a record without bytes is
 * litter: there are twice as many as slots. Big files get theirs only when they can be sent: a request is nothing beside their upload.
 */
export function whyNotAhead(file: Queued, ahead: readonly Queued[], limits: Limits): NoSlot | null {
  return whyNot(file, ahead, { ...limits, big: slotsForBig(limits.uploads), perSlot: 2 });
}

function whyNot(
  { folder, isBig }: Queued,
  taken: readonly Queued[],
  { uploads, folderUploads, big, perSlot }: Limits & { readonly big: number; readonly perSlot: number },
): NoSlot | null {
  const ofFolder = taken.filter((other) => other.folder === folder);
  const most = folderUploads.get(folder) ?? Infinity;
  if (ofFolder.length >= most * perSlot || (isBig && bigOf(ofFolder) >= most)) return 'folder';
  if (isBig && bigOf(taken) >= big) return 'kept for small';
  return taken.length >= uploads * perSlot ? 'all' : null;
}

function bigOf(files: readonly Queued[]): number {
  return files.filter(({ isBig }) => isBig).length;
}
