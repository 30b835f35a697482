import type { ReadAt } from './container-bytes.ts';
import { isoMediaFlaw } from './iso-media.ts';
import { matroskaFlaw } from './matroska.ts';

/**
 * Whether a media container admits that bytes of it are missing: MP4/MOV and Matroska/WebM by their own lengths. Reads a few
 * bytes per top-level box and never goes deeper. What is no such container is not ours to judge (design, section 6).
 *
 * @param size of the file in bytes
 * @returns the flaw in words, or `null`
 * @throws what `readAt` throws
 */
export async function containerFlaw(readAt: ReadAt, size: number): Promise<string | null> {
  const start = await readAt(0, 16);
  return (await isoMediaFlaw(readAt, size, start)) ?? (await matroskaFlaw(readAt, size, start));
}
