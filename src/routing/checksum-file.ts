import { posix } from 'node:path';

/** The algorithms of senders' checksums that dropcast computes. */
export type HashName = 'md5' | 'sha1' | 'sha256' | 'sha512';

export const hashNames: readonly HashName[] = ['md5', 'sha1', 'sha256', 'sha512'];

/** A line of a checksum file. */
export interface ChecksumLine {
  readonly algorithm: HashName;
  /** Hex, lower case. */
  readonly digest: string;
  /** As written; null for a digest without a name. */
  readonly name: string | null;
}

/** What a file of this name holds: the checksum of one file, those of many in its directory, or a Media Hash List; null: none of them. */
export function checksumFileKind(name: string): 'one' | 'many' | 'mhl' | null {
  if (LIST.test(name)) return 'many';
  if (/\.mhl$/iu.test(name)) return 'mhl';
  return ONE.test(name) ? 'one' : null;
}

const ONE = /\.(md5|sha1|sha256|sha512)$/iu;
const LIST = /^(MD5|SHA1|SHA256|SHA512)SUMS(\.txt)?$/iu;

/** Whether a checksum file of one file is that of this video: `clip.mp4.sha256` or `clip.sha256` for `clip.mp4`. */
export function isChecksumOf(checksumName: string, videoName: string): boolean {
  const { name } = posix.parse(checksumName);
  return ONE.test(checksumName) && (name === videoName || name === posix.parse(videoName).name);
}

/**
 * The lines of a checksum file as `sha256sum` and BSD (`SHA256 (clip.mp4) = …`) write them, and digests alone. Other lines are left out.
 *
 * @param checksumName tells the algorithm where a line does not
 */
export function parseChecksums(text: string, checksumName: string): readonly ChecksumLine[] {
  const named = hashNames.find((hash) => posix.basename(checksumName).toLowerCase().includes(hash)) ?? 'sha256';
  return text.split(/\r?\n/u).flatMap((line) => parseLine(line, named) ?? []);
}

/**
 * The digests that a checksum file has for a video.
 *
 * @param checksumName of a file in the directory of the video, of the kind 'one' or 'many'
 */
export function checksumsFor(videoName: string, checksumName: string, text: string): readonly ChecksumLine[] {
  const lines = parseChecksums(text, checksumName);
  const own = lines.filter(({ name }) => name !== null && baseOf(name).normalize() === videoName.normalize());
  if (own.length > 0 || checksumFileKind(checksumName) === 'many') return exactLines(own, videoName);
  // Named after this very file, it means it, whatever its sender called it.
  const isOnlyFor = posix.parse(checksumName).name === videoName;
  return lines.length === 1 ? lines.filter(({ name }) => name === null || name === '-' || isOnlyFor) : [];
}

/** Of lines whose names end in the same name: one without a directory is about the file itself, and then the others are about other files. */
export function exactLines<T extends Pick<ChecksumLine, 'name'>>(lines: readonly T[], videoName: string): readonly T[] {
  const exact = lines.filter(({ name }) => name?.replace(/^(?:\.[/\\])+/u, '').normalize() === videoName.normalize());
  return exact.length > 0 ? exact : lines;
}

/** The name alone, without the directories in which its sender had the file. */
export function baseOf(name: string): string {
  return posix.basename(name.replaceAll('\\', '/'));
}

function parseLine(line: string, named: HashName): ChecksumLine | null {
  const text = line.trim();
  const bsd = /^(MD5|SHA1|SHA256|SHA512) ?\((.+)\) ?= ?([\da-f]+)$/iu.exec(text);
  if (bsd !== null) return lineOf(bsd[1]?.toLowerCase(), bsd[3], bsd[2]);
  const [, digest, name] = /^\\?([\da-f]{32,128})(?:\s+\*?(\S.*))?$/iu.exec(text) ?? [];
  return lineOf(named, digest, name);
}

function lineOf(hash: string | undefined, digest: string | undefined, name: string | undefined): ChecksumLine | null {
  const algorithm = hashNames.find((known) => known === hash);
  if (algorithm === undefined || digest?.length !== digestLength[algorithm]) return null;
  return { algorithm, digest: digest.toLowerCase(), name: name ?? null };
}

/** Hexadecimal digits. */
export const digestLength: Readonly<Record<HashName, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
