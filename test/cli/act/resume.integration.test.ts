import { rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { resume } from '../../../src/cli/act/pause.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { healthOf } from '../../../src/daemon/health.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { loadedConfig } from '../../support/configuration.ts';
import { servedControl } from '../../daemon/served-control.ts';

const names = Array.from({ length: 12 }, (_, n) => `${n}.mp4`);

/** A folder with twelve files, and nobody at the address of the service. */
async function makePlace(): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await mkdir(scratch.file('in'));
  return scratch;
}

async function run(scratch: ScratchDirectory, folder: string) {
  const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
  const code = await resume(shell, { config: scratch.file('dropcast.yaml') }, folder);
  return { code, out: shell.out.text, err: shell.err.text };
}

async function start(scratch: ScratchDirectory): Promise<Daemon> {
  return startDaemon(await loadedConfig(scratch, { folders: [{ path: 'in' }] }), silentLogger);
}

const counts = (daemon: Daemon) => daemon.ledger.totals('by state');

test('a frozen folder makes health `frozen`, waits for the command through a restart, and resumes with it', async () => {
  await using scratch = await makePlace();
  for (const name of names) await writeFile(scratch.file('in', name), 'content');
  {
    await using daemon = await start(scratch);
    await until('all have come in', async () => Object.values(await counts(daemon)).reduce((a, b) => a + b, 0) === 12);
    await until('the first scan is over', () => daemon.folders.unscanned().length === 0);
    // All at once: what goes one by one may be gone before so many are missed.
    for (const name of names) rmSync(scratch.file('in', name));
    await daemon.folders.rescan();
    await until('it is frozen', () => daemon.folders.status()[0]?.state === 'frozen');
  }
  await using daemon = await start(scratch);
  await using _ = await servedControl(daemon, daemon.config().status.socket);
  await until('it was scanned', () => daemon.folders.status()[0]?.state === 'frozen');
  expect(healthOf(daemon.waits())).toBe('frozen');
  expect((await counts(daemon))['vanished']).toBeUndefined();
  expect(await run(scratch, 'elsewhere')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not a watched folder'),
  });
  expect(await run(scratch, 'in')).toMatchObject({ code: 0, out: expect.stringContaining('are gone') });
  // A file that a step is working on is given up once that step ends.
  await until('all are gone', async () => (await counts(daemon))['vanished'] === 12);
  expect(await run(scratch, 'in')).toMatchObject({ code: 1, err: expect.stringContaining('is not frozen') });
});

test('without a daemon, the next start takes the folder as it is then', async () => {
  await using scratch = await makePlace();
  for (const name of names) await writeFile(scratch.file('in', name), 'content');
  {
    await using daemon = await start(scratch);
    await until('all have come in', async () => Object.values(await counts(daemon)).reduce((a, b) => a + b, 0) === 12);
  }
  for (const name of names) await rm(scratch.file('in', name));
  expect(await run(scratch, 'in')).toMatchObject({ code: 0, out: expect.stringContaining('next start') });
  {
    await using daemon = await start(scratch);
    await until('all are gone', async () => (await counts(daemon))['vanished'] === 12);
    expect(daemon.folders.status()[0]?.state).not.toBe('frozen');
  }
  await using ledger = await openLedger(scratch.file('state'));
  expect(await ledger.roots.load(scratch.file('in'))).toMatchObject({ doubt: null });
});
