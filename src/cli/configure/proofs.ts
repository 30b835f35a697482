import { posix } from 'node:path';
import { ChecksumReader } from '../../disk/checksums/read-checksums.ts';
import type { FolderRouter } from '../../intake/folder-router.ts';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { checkBytes } from '../../watch/completeness.ts';
import { OpenWriters } from '../../watch/open-writers.ts';
import { lookAtMarker } from '../../watch/waiting-file.ts';

/** Evidence, in words, for and against a video being complete and having the right content. */
export interface Proofs {
  readonly writer: string;
  readonly container: string;
  readonly marker: string;
  readonly checksum: string;
}

/** @param sentSha256 SHA-256 of the sent body, in hex; null if nothing was sent */
export async function proofsOf(
  router: FolderRouter,
  file: { readonly path: string; readonly version: FileVersion },
  sentSha256: string | null,
): Promise<Proofs> {
  const folder = router.folder.path;
  const [writer, bytes, marker, checksum] = await Promise.all([
    new OpenWriters().of(file.version, 0),
    checkBytes(folder, file.path, file.version, true),
    markerWords(router, file.path),
    checksumsWords({ folder, path: file.path }, sentSha256),
  ]);
  return {
    writer: writer === null ? 'none seen' : `process ${writer.pid} (${writer.command}) has it open for writing`,
    container:
      bytes.is === 'flawed'
        ? bytes.flaw
        : bytes.is === 'doubtful'
          ? bytes.doubt
          : bytes.is === 'unreadable'
            ? bytes.why
            : 'does not say that bytes are missing',
    marker,
    checksum,
  };
}

async function markerWords(router: FolderRouter, path: string): Promise<string> {
  const marker = router.markerOf(path);
  if (marker === null) return 'none required';
  const entry = await lookAtMarker(router.folder.path, marker);
  const name = posix.basename(marker);
  return entry.is === 'file' ? `${name} is there` : `${name} is missing: the sender makes it once the file is complete`;
}

async function checksumsWords(file: { readonly folder: string; readonly path: string }, sentSha256: string | null) {
  const said = await new ChecksumReader().checksumsOf(file);
  if (!said.ok) return said.failure.message;
  return said.value.map((checksum) => checksumWords(checksum, sentSha256)).join('; ') || 'none';
}

function checksumWords({ algorithm, digest, from }: Checksum, sentSha256: string | null): string {
  const where = `${algorithm.toUpperCase()} in ${from.path}`;
  if (algorithm !== 'sha256' || sentSha256 === null) return `${where}, compared before the last part is sent`;
  return `${where}, ${digest === sentSha256 ? 'same as what was sent' : 'not what was sent'}`;
}
