import type { BigIntStats } from 'node:fs';

/**
 * The version of a file's bytes, as far as the file system shows it. Nanoseconds are decimal strings, because they do
 * not fit a number.
 */
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
 * Whether both are certainly the same bytes of the same file; `dev` does not count. The kernel moves `ctimeNs` with
 * every write, and no program can set it back.
 */
export function isSameVersion(one: ContentVersion, other: ContentVersion): boolean {
  return looksTheSame(one, other) && one.ctimeNs === other.ctimeNs;
}

/**
 * Whether at most `dev` and `ctimeNs` differ: the same bytes after a rename, chmod or hard link, or other bytes of the
 * same length from a tool that restored the modification time. Only the content distinguishes them.
 */
export function looksTheSame(one: ContentVersion, other: ContentVersion): boolean {
  return (
    one.ino === other.ino &&
    one.birthtimeNs === other.birthtimeNs &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs
  );
}

/** Whether the same file has grown in its place. */
export function grewInPlace(before: ContentVersion, now: ContentVersion): boolean {
  return before.ino === now.ino && before.birthtimeNs === now.birthtimeNs && before.size < now.size;
}

/** `looksTheSame` as a key. */
export function lookKey({ size, mtimeNs, ino, birthtimeNs }: ContentVersion): string {
  return [size, mtimeNs, ino, birthtimeNs].join(':');
}

/** Whether nothing at all happened to the file, not even to its device. */
export function isUntouched(before: FileVersion, now: FileVersion): boolean {
  return isSameVersion(before, now) && before.dev === now.dev;
}
