import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inspectState } from '../../src/daemon/state/inspect-state.ts';
import { requireOwnState, strayFiles } from '../../src/daemon/state/state-owner.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { needs } from '../support/needs.ts';

const isRoot = process.getuid?.() === 0;
/** Not root, and with a name in passwd(5) only by chance. */
const other = isRoot ? 54_321 : (process.getuid?.() ?? 0);

beforeEach(() => {
  vi.spyOn(process, 'geteuid').mockReturnValue(0);
});
afterEach(() => vi.restoreAllMocks());

async function directoryOf(uid: number): Promise<AsyncDisposable & { readonly path: string }> {
  const scratch = await scratchDirectory();
  await chown(scratch.path, uid, uid);
  return scratch;
}

const refused = (stateDir: string, file: string) =>
  requireOwnState({ stateDir, file }).catch((error: unknown) => error);

test('root starts nothing in the state directory of another user, and sees what to run instead', async () => {
  await using scratch = await directoryOf(other);
  const error = await refused(scratch.path, '/etc/dropcast/dropcast.yaml');
  expect(error).toBeInstanceOf(LedgerError);
  expect(String(error)).toMatch(/the state directory \S+ belongs to .+`sudo systemctl start dropcast`/);
  expect(String(await refused(scratch.path, '/etc/dropcast/news.yaml'))).toContain('systemctl start dropcast@news`');
  expect(String(await refused(scratch.path, '/srv/dropcast.yaml'))).toMatch(/there: run it as \S+/);
});

test('other users are stopped by permissions alone, and a missing directory has no owner', async () => {
  await using scratch = await directoryOf(other);
  await requireOwnState({ stateDir: join(scratch.path, 'missing'), file: '/srv/dropcast.yaml' });
  vi.mocked(process.geteuid!).mockReturnValue(1);
  await requireOwnState({ stateDir: scratch.path, file: '/srv/dropcast.yaml' });
});

test('root works in its own', needs('root'), async () => {
  await using scratch = await directoryOf(0);
  await requireOwnState({ stateDir: scratch.path, file: '/srv/dropcast.yaml' });
});

test('a check by root names the files that a run as root has left, and the command', needs('root'), async () => {
  await using scratch = await directoryOf(other);
  await mkdir(join(scratch.path, 'backups'));
  await mkdir(join(scratch.path, 'lost'));
  for (const name of ['receipts.jsonl', 'backups/ledger.1.db', 'notes', 'failures.jsonl'])
    await writeFile(join(scratch.path, name), '');
  await chown(join(scratch.path, 'failures.jsonl'), other, other);
  const paths = { stateDir: scratch.path, failureLog: join(scratch.path, 'failures.jsonl') };
  const [sentence, ...others] = await inspectState(paths, join(scratch.path, 'dropcast.sock'));
  expect(others).toEqual([]);
  for (const part of [
    `user ${other}`,
    `backups, receipts.jsonl, ${join('backups', 'ledger.1.db')}`,
    `\`sudo chown -R ${other}:${other} ${scratch.path}\``,
  ])
    expect(sentence).toContain(part);
  vi.mocked(process.geteuid!).mockReturnValue(1);
  expect(await strayFiles(scratch.path)).toBeNull();
});
