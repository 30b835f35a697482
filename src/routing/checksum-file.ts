import { posix } from 'node:path';

/** What can be computed of those that senders write. */
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

/** What a file of this name has: the checksum of one file, of many of its directory, or a list of ASC MHL; null: none. */
export function checksumFileKind(name: string): 'one' | 'many' | 'mhl' | null {
  if (LIST.test(name)) return 'many';
  if (/\.mhl$/iu.test(name)) return 'mhl';
  return ONE.test(name) ? 'one' : null;
}

const ONE = /\.(md5|sha1|sha256|sha512)$/iu;
const LIST = /^(MD5|SHA1|SHA256|SHA512)SUMS(\.txt)?$/iu;

/** Whether a checksum file of one file has this video: `clip.mp4.sha256` or `clip.sha256`. */
export function isChecksumOf(checksumName: string, videoName: string): boolean {
  const { name } = posix.parse(checksumName);
  return ONE.test(checksumName) && (name === videoName || name === posix.parse(videoName).name);
}

/**
 * The digests that a checksum file has for a video: lines of `sha256sum`, of BSD (`SHA256 (clip.mp4) = …`), or a digest alone.
 *
 * @param checksumName of a file in the directory of the video, of the kind 'one' or 'many'
 */
export function checksumsFor(videoName: string, checksumName: string, text: string): readonly ChecksumLine[] {
  const named = hashNames.find((hash) => checksumName.toLowerCase().includes(hash));
  const lines = text.split(/\r?\n/u).flatMap((line) => parseLine(line, named ?? 'sha256') ?? []);
  const own = lines.filter(({ name }) => name !== null && isNameOf(name, videoName));
  if (own.length > 0 || checksumFileKind(checksumName) === 'many') return own;
  // Named after this very file, it means it, whatever its sender called it.
  const isOnlyFor = posix.parse(checksumName).name === videoName;
  return lines.length === 1 ? lines.filter(({ name }) => name === null || name === '-' || isOnlyFor) : [];
}

/** With or without the directories that its sender has it in. */
function isNameOf(name: string, videoName: string): boolean {
  return posix.basename(name.replaceAll('\\', '/')).normalize() === videoName.normalize();
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
