import { createHash, randomBytes } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markName, readMark, withoutCounter } from './root-mark.ts';
import { readSmallFile } from './small-file.ts';

/**
 * A file that one host wrote a moment ago and another looks for: whoever sees it looks into the same folder. The number of the file is
 * not copied with its content.
 */
export interface RootProof {
  readonly nonce: string;
  readonly inode: string;
}

/** The mark of a folder, as one file among its copies. */
export interface MarkFile {
  readonly ledger: string;
  readonly place: string | null;
  readonly fingerprint: string;
}

/** @returns null when there is no mark that can be read */
export async function markFileOf(folder: string): Promise<MarkFile | null> {
  const found = await readMark(folder);
  if (found.is !== 'mark') return null;
  const { ledger, place = null } = found.owner;
  const inode = await inodeOf(join(folder, markName));
  return { ledger, place, fingerprint: hashOf(`${inode} ${withoutCounter(found.text)}`) };
}

/** @param host who writes it: what a crash left is written again @throws what the file system refuses */
export async function writeProof(folder: string, host: string): Promise<RootProof> {
  const nonce = randomBytes(16).toString('hex');
  // A file that somebody else put there is not written through.
  await removeProof(folder, host);
  await writeFile(proofPath(folder, host), nonce, { flag: 'wx', mode: 0o644 });
  return { nonce, inode: (await inodeOf(proofPath(folder, host))) ?? '' };
}

/** Whether the proof that another host wrote is in this folder. */
export async function seesProof(folder: string, host: string, { nonce, inode }: RootProof): Promise<boolean> {
  const path = proofPath(folder, host);
  const text = await readSmallFile(path).catch(() => null);
  return text === nonce && (await inodeOf(path)) === inode;
}

export async function removeProof(folder: string, host: string): Promise<void> {
  await rm(proofPath(folder, host), { force: true });
}

/** Hidden, so that no watcher takes it for a video. */
function proofPath(folder: string, host: string): string {
  return join(folder, `${markName}.proof-${hashOf(host).slice(0, 12)}`);
}

async function inodeOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ ino }) => String(ino),
    () => null,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
