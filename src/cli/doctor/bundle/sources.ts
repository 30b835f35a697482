import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileView } from '../../../view/files/file-view.ts';
import type { FilesView } from '../../../view/files/files-view.ts';
import { openLedgerToRead } from '../../../daemon/state/ledger-to-read.ts';
import { LedgerError } from '../../../ledger/ledger-error.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { queryRunningDaemon, streamRunningDaemon } from '../../control.ts';
import type { DaemonPlace } from '../../control.ts';
import { CommandError, exitCodes } from '../../shell.ts';
import type { Patient } from '../patient.ts';
import type { BundledFile } from './bundled-file.ts';

/** One part of a bundle, or the reason why it is missing. */
export type Gathered<T> =
  | { readonly is: 'there'; readonly value: T }
  | { readonly is: 'missing'; readonly why: string };

const mostFiles = 200;
const mostNames = 1000;

/** Reads rows and histories of files that need the operator, from the daemon or else from its ledger. */
export async function filesInNeed({ reach, status }: Patient): Promise<Gathered<readonly BundledFile[]>> {
  if (reach === null) return { is: 'missing', why: 'no configuration says where the ledger is' };
  if (status !== null)
    return attempt(
      async () => (await queryRunningDaemon<{ readonly files: readonly BundledFile[] }>(reach, '/facts')).files,
    );
  return attempt(() =>
    fromLedger(reach, async (ledger) => {
      const rows = await ledger.rows({
        group: 'any',
        where: { states: ['failed', 'held'] },
        limit: mostFiles,
        newestFirst: true,
      });
      return Promise.all(rows.map(async (facts) => ({ facts, history: await ledger.history(facts.id) })));
    }),
  );
}

/** Reads the ledger of a daemon that is down. Returns an empty list if there is no ledger. */
async function fromLedger<T>(
  place: DaemonPlace,
  read: (ledger: Ledger) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  await using ledger = await openLedgerToRead(place);
  return ledger === null ? [] : await read(ledger);
}

/** Reads names that may occur in a log, from the daemon or else from its ledger. */
export async function knownFiles({ reach, status }: Patient): Promise<readonly Pick<FileView, 'path' | 'title'>[]> {
  if (reach === null) return [];
  if (status === null) {
    const rows = await attempt(() =>
      fromLedger(reach, (ledger) => ledger.rows({ group: 'any', limit: mostNames, newestFirst: true })),
    );
    return rows.is === 'missing'
      ? []
      : rows.value.map(({ folder, path, plan }) => ({ path: join(folder, path), title: plan?.title ?? null }));
  }
  const { files, settling } = await queryRunningDaemon<FilesView>(reach, `/files?limit=${mostNames}`);
  return [...files, ...settling.map(({ path }) => ({ path, title: null }))];
}

/** Reads the daemon's latest event lines. */
export async function lastNews({ config, status, shell }: Patient): Promise<Gathered<readonly unknown[]>> {
  if (config === null || status === null) return { is: 'missing', why: 'the daemon is not running' };
  return attempt(async () => {
    const lines: unknown[] = [];
    const asked = { path: '/events?limit=300', signal: shell.stopping };
    await streamRunningDaemon(config, asked, (line) => lines.push(line));
    return lines;
  });
}

const mostLogBytes = 500_000;

/** Reads the end of the service's journal. */
export async function lastLog({ service }: Patient): Promise<Gathered<string>> {
  if (service === null)
    return { is: 'missing', why: 'only an installed service has a journal; add the output of `dropcast run`' };
  const args = [
    '--unit',
    `${service.name}.service`,
    '--lines',
    '2000',
    '--no-pager',
    '--quiet',
    '--output',
    'short-iso',
  ];
  return attempt(async () => {
    const { stdout } = await promisify(execFile)('journalctl', args, { maxBuffer: 64 * 2 ** 20, timeout: 15_000 });
    return stdout.length > mostLogBytes ? afterFirstLine(stdout.slice(-mostLogBytes)) : stdout;
  });
}

/** Reads the end of a text file of any size. Does not follow a link. */
export async function tailOf(path: string, mostBytes: number): Promise<Gathered<string>> {
  return attempt(async () => {
    // The directory's owner may have put a link there, for root to read another file.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw new CommandError(`${path} is not a regular file`, exitCodes.failed);
    const { size } = stats;
    const start = Math.max(0, size - mostBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === 0 ? text : afterFirstLine(text);
  });
}

/** Drops the first line, because a partial name or key in it would not be recognised and masked. */
function afterFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

async function attempt<T>(gather: () => Promise<T>): Promise<Gathered<T>> {
  try {
    return { is: 'there', value: await gather() };
  } catch (error) {
    if (
      error instanceof CommandError ||
      error instanceof LedgerError ||
      (error instanceof Error && ('syscall' in error || 'code' in error))
    )
      return { is: 'missing', why: error.message };
    throw error;
  }
}
