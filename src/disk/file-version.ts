import type { BigIntStats } from 'node:fs';
import type { FileVersion } from '../pipeline/file/facts.ts';

/** The version that a look at a file shows. */
export function versionOf(stats: BigIntStats): FileVersion {
  return {
    dev: String(stats.dev),
    ino: String(stats.ino),
    birthtimeNs: String(stats.birthtimeNs),
    size: Number(stats.size),
    mtimeNs: String(stats.mtimeNs),
    ctimeNs: String(stats.ctimeNs),
  };
}
