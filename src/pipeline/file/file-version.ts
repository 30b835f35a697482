import type { BigIntStats } from 'node:fs';

/** Which bytes, as far as the file system tells. Nanoseconds are decimal strings: they do not fit a number. */
export interface FileVersion {
  /** Where the file was last seen. Says nothing about the bytes: a reboot or remount may renumber the device. */
  readonly dev: string;
  readonly ino: string;
  readonly birthtimeNs: string;
  /** Bytes. */
  readonly size: number;
  readonly mtimeNs: string;
  /** Also moved by a rename, chmod or hard link, which change no content. */
  readonly ctimeNs: string;
}

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

/** Whether both are the same bytes of the same file: `dev` and `ctimeNs` do not count. */
export function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  return (
    one.ino === other.ino &&
    one.birthtimeNs === other.birthtimeNs &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs
  );
}

/** `isSameVersion` as a key: equal for the same version. Joined, not concatenated, because one is kept for each of 100,000 files. */
export function contentKey(version: FileVersion): string {
  return [version.size, version.mtimeNs, version.ino, version.birthtimeNs].join(':');
}

/** Whether nothing at all happened to the file: stricter than `isSameVersion`, a chmod or a move counts. */
export function isUntouched(before: FileVersion, now: FileVersion): boolean {
  return isSameVersion(before, now) && before.ctimeNs === now.ctimeNs && before.dev === now.dev;
}
