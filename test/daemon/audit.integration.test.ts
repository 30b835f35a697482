import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { auditOf } from '../../src/view/audit/audit-view.ts';
import { costWords } from '../../src/view/words/audit-words.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { ready, someFacts, someVersion } from '../pipeline/some-facts.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { everything, quick, runOf } from '../pipeline/rounds/audited-world.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

async function desk(stack: AsyncDisposableStack, perHour = 1_000) {
  const service = stack.use(await runSandbox());
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('inbox'));
  const config = await loadedConfig(scratch, {
    service: { base_url: service.sandbox.baseUrl, api_key: service.sandbox.apiKey, requests_per_hour: perHour },
  });
  const drop = async (name: string) => {
    await copyFile(new URL('../media/clip.mp4', import.meta.url), scratch.file('inbox', name));
    // Equal contents would be duplicates.
    await writeFile(scratch.file('inbox', name), name, { flag: 'a' });
  };
  return { service, scratch, drop, start: () => startDaemon(config, silentLogger) };
}

const done = async (daemon: Daemon, files: number) =>
  until(`${files} files are done`, async () => (await daemon.ledger.count({ states: ['done'] })) === files);

const ended = async (daemon: Daemon) =>
  until('the audit has ended', async () => (await runOf(daemon.ledger)).endedAt !== null);

test('the daemon audits what it uploaded, and offers the local copies', async () => {
  await using stack = new AsyncDisposableStack();
  const { service, drop, start } = await desk(stack);
  const daemon = stack.use(await start());
  await Promise.all(['a.mp4', 'b.mp4', 'c.mp4'].map(drop));
  await done(daemon, 3);
  const [first] = await daemon.ledger.rows({ group: 'any', limit: 1 });
  await service.call('DELETE', `/videos/${first?.videoId}`);
  const cost = await daemon.audit.cost(everything, true);
  expect(cost).toMatchObject({ files: 3, videos: 2, requests: { list: 2, files: 3 } });
  expect(costWords(cost)).toContain('About 2 requests for the list of 2 videos, and 3 for single videos; 3 files, ');
  expect(await daemon.audit.begin(everything, 'a test')).toBe(true);
  await ended(daemon);
  const { groups, words } = await auditOf(daemon.ledger, null);
  expect(groups.map(({ kind, count }) => [kind, count])).toEqual([
    ['gone', 1],
    ['deletable', 2],
  ]);
  expect(words).toMatch(/^Audit of \d\d:\d\d, ended at \d\d:\d\d: 3 of 3 files examined; \d+ requests, .* read\.$/);
});

test('only one audit runs, and a stopped one keeps what it found', async () => {
  await using stack = new AsyncDisposableStack();
  const { start } = await desk(stack, 4);
  const daemon = stack.use(await start());
  expect(await daemon.audit.stop()).toBe(false);
  expect(await daemon.audit.begin(quick, 'a test')).toBe(true);
  expect(await daemon.audit.begin(everything, 'another')).toBe(false);
  expect(await daemon.audit.stop()).toBe(true);
  expect(await runOf(daemon.ledger)).toMatchObject({ step: 'stopped', by: 'a test' });
});

test('an audit leaves half of the requests to a file that arrives while it runs, and continues after a restart', async () => {
  await using stack = new AsyncDisposableStack();
  const { service, scratch, drop, start } = await desk(stack, 40);
  {
    await using ledger = await openLedger(scratch.file('state'));
    for (let n = 0; n < 30; n += 1) await ledger.insert(finished(scratch.file('inbox'), n));
  }
  const used = (daemon: Daemon) => daemon.gate.snapshot().used;
  {
    await using daemon = await start();
    await daemon.audit.begin(everything, 'a test');
    await until('nothing is spare', () => used(daemon) === 18);
  }
  const { length: sent } = service.sandbox.requests();
  await using daemon = await start();
  const run = await runOf(daemon.ledger);
  expect(run).toMatchObject({ endedAt: null, step: 'files', files: 30 });
  expect(run.examined).toBeGreaterThanOrEqual(5);
  await drop('late.mp4');
  await until('the late file is uploaded', async () => (await daemon.ledger.count({ states: ['processing'] })) === 1);
  const later = service.sandbox.requests().slice(sent);
  expect(later.filter(({ operation }) => operation === 'videos.get')).toEqual([]);
});

/** A file that was done long ago, and whose video the service does not have. */
function finished(folder: string, n: number): Facts {
  return someFacts({
    ...ready,
    id: `f_${n}`,
    folder,
    path: `${n}.mp4`,
    version: { ...someVersion, ino: String(n) },
    videoId: `vid_${n}`,
    end: 'done',
    endedAt: 5,
    disposal: 'deleted',
  });
}
