import type { BigIntStats } from 'node:fs';

/**
 * The version of a file's bytes, as far as the file system shows it. Nanoseconds are decimal strings, because they do
 * not fit into a number.
 */
export interface FileVersion {
  /**
   * Device on which the file was last seen. It does not identify the bytes, because a reboot or remount may renumber
   * devices.
   */
  readonly dev: string;
  readonly ino: string;
  readonly birthtimeNs: string;
  /** Size in bytes. */
  readonly size: number;
  readonly mtimeNs: string;
  /** Also changed by a rename, chmod or hard link, which leave the content alone. */
  readonly ctimeNs: string;
}

/** The parts of a version that identify the bytes. */
export type ContentVersion = Omit<FileVersion, 'dev'>;

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

/**
 * Whether two versions are certainly the same bytes of the same file; `dev` is ignored. The kernel updates `ctimeNs` on
 * every write, and no program can set it back.
 */
export function isSameVersion(one: ContentVersion, other: ContentVersion): boolean {
  return looksTheSame(one, other) && one.ctimeNs === other.ctimeNs;
}

/**
 * Whether two versions differ at most in `dev` and `ctimeNs`. Either the bytes are the same after a rename, chmod or
 * hard link, or a tool wrote other bytes of the same length and restored the modification time. Only comparing the
 * content can tell.
 */
export function looksTheSame(one: ContentVersion, other: ContentVersion): boolean {
  return (
    one.ino === other.ino &&
    one.birthtimeNs === other.birthtimeNs &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs
  );
}

export function grewInPlace(before: ContentVersion, now: ContentVersion): boolean {
  return before.ino === now.ino && before.birthtimeNs === now.birthtimeNs && before.size < now.size;
}

/** A key that is equal for versions that satisfy `looksTheSame`. */
export function lookKey({ size, mtimeNs, ino, birthtimeNs }: ContentVersion): string {
  return [size, mtimeNs, ino, birthtimeNs].join(':');
}

/** Whether the file is completely unchanged, including its device number. */
export function isUntouched(before: FileVersion, now: FileVersion): boolean {
  return isSameVersion(before, now) && before.dev === now.dev;
}
