import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { openLedgerToRead } from '../../../daemon/state/ledger-to-read.ts';
import { LedgerError } from '../../../ledger/ledger-error.ts';
import { queryRunningDaemon, streamRunningDaemon } from '../../control.ts';
import { CommandError } from '../../shell.ts';
import { SkippedError } from '../finding.ts';
import type { Patient } from '../patient.ts';
import type { BundledFile } from './next-steps.ts';

const mostFiles = 200;

/**
 * Reads rows and histories of files that need the operator, from the daemon or else from its ledger.
 *
 * @throws {SkippedError} when no configuration says where the ledger is
 */
export async function filesInNeed({ reach, status }: Patient): Promise<readonly BundledFile[]> {
  if (reach === null) throw new SkippedError('no configuration says where the ledger is');
  if (status !== null)
    return (await queryRunningDaemon<{ readonly files: readonly BundledFile[] }>(reach, '/facts')).files;
  await using ledger = await openLedgerToRead(reach);
  if (ledger === null) return [];
  const where = { states: ['failed', 'held'] };
  const rows = await ledger.rows({ group: 'any', where, limit: mostFiles, newestFirst: true });
  return await Promise.all(rows.map(async (facts) => ({ facts, history: await ledger.history(facts.id) })));
}

/** Reads the daemon's latest event lines. @throws {SkippedError} when it is not running */
export async function lastNews({ config, status, shell }: Patient): Promise<readonly unknown[]> {
  if (config === null || status === null) throw new SkippedError('the daemon is not running');
  const lines: unknown[] = [];
  const asked = { path: '/events?limit=300', signal: shell.stopping };
  await streamRunningDaemon(config, asked, (line) => lines.push(line));
  return lines;
}

const mostLogBytes = 500_000;

/** Reads the end of the service's journal. @throws {SkippedError} when this is not an installed service */
export async function lastLog({ service }: Patient): Promise<string> {
  if (service === null)
    throw new SkippedError('only an installed service has a journal; add the output of `dropcast run`');
  const form = ['--lines', '2000', '--no-pager', '--quiet', '--output', 'short-iso'];
  const { stdout } = await promisify(execFile)('journalctl', ['--unit', `${service.name}.service`, ...form], {
    maxBuffer: 64 * 2 ** 20,
    timeout: 15_000,
  });
  return stdout.length > mostLogBytes ? afterFirstLine(stdout.slice(-mostLogBytes)) : stdout;
}

/** Reads the end of a text file of any size. Does not follow a link. */
export async function tailOf(path: string, mostBytes: number): Promise<string> {
  // The directory's owner may have put a link there, for root to read another file.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new CommandError(`${path} is not a regular file`);
  const { size } = stats;
  const start = Math.max(0, size - mostBytes);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
  const text = buffer.toString('utf8', 0, bytesRead);
  return start === 0 ? text : afterFirstLine(text);
}

/** Drops the first line, which is cut off. */
function afterFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

/**
 * Why a source cannot be read. Messages of errors are left out: they may quote anything.
 *
 * @throws the error if it is a bug
 */
export function whyMissing(error: unknown): string {
  if (error instanceof SkippedError) return error.message;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const isExpected = error instanceof CommandError || error instanceof LedgerError;
  if (!isExpected && !(error instanceof Error && ('syscall' in error || 'code' in error))) throw error;
  return `cannot be read (${code ?? error.name})`;
}
