import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { openLedgerToRead } from '../../../daemon/state/ledger-to-read.ts';
import { LedgerError } from '../../../ledger/ledger-error.ts';
import { queryRunningDaemon, streamRunningDaemon } from '../../control.ts';
import { CommandError, exitCodes } from '../../shell.ts';
import type { Patient } from '../patient.ts';
import type { BundledFile } from './next-steps.ts';

/** One part of a bundle, or the reason why it is missing. */
export type Gathered<T> =
  | { readonly is: 'there'; readonly value: T }
  | { readonly is: 'missing'; readonly why: string };

const mostFiles = 200;

/** Reads rows and histories of files that need the operator, from the daemon or else from its ledger. */
export async function filesInNeed({ reach, status }: Patient): Promise<Gathered<readonly BundledFile[]>> {
  if (reach === null) return { is: 'missing', why: 'no configuration says where the ledger is' };
  if (status !== null)
    return attempt(
      async () => (await queryRunningDaemon<{ readonly files: readonly BundledFile[] }>(reach, '/facts')).files,
    );
  return attempt(async () => {
    await using ledger = await openLedgerToRead(reach);
    if (ledger === null) return [];
    const rows = await ledger.rows({
      group: 'any',
      where: { states: ['failed', 'held'] },
      limit: mostFiles,
      newestFirst: true,
    });
    return await Promise.all(rows.map(async (facts) => ({ facts, history: await ledger.history(facts.id) })));
  });
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

/** Drops the first line, which is cut off. */
function afterFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

/** Messages of errors are left out: they may quote anything. */
async function attempt<T>(gather: () => Promise<T>): Promise<Gathered<T>> {
  try {
    return { is: 'there', value: await gather() };
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
    const isExpected = error instanceof CommandError || error instanceof LedgerError;
    if (!isExpected && !(error instanceof Error && ('syscall' in error || 'code' in error))) throw error;
    return { is: 'missing', why: `cannot be read (${code ?? error.name})` };
  }
}
