import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Facts } from './facts.ts';

/**
 * Returns the tag that `service.marker` adds to the video of a file. It is computed from the file's name, size and
 * modification time in seconds, because these survive the loss of the ledger, a move, and a copy to another disk.
 */
export function markerOf({ path, version }: Pick<Facts, 'path' | 'version'>): string {
  const text = [posix.basename(path), version.size, Math.floor(Number(version.mtimeNs) / 1e9)].join('/');
  return `dc-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}

/** Whether a tag is one that dropcast sets with `service.marker`, such as `dc-1a2b3c4d`. */
export function isMarker(tag: string): boolean {
  return /^dc-[0-9a-f]{8}$/.test(tag);
}
