import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LivePicture } from '../../src/view/picture/picture.ts';
import { somePicture, stagesWith } from '../view/picture/some-picture.ts';
import { LifecycleNotifier, startingText, stoppingText } from '../../src/systemd/lifecycle.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { recordingNotifier } from './recording-notifier.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const extended = 'EXTEND_TIMEOUT_USEC=15000000';
const begun = `${extended}\nSTATUS=${startingText}`;
const ready = `READY=1\nSTATUS=${startingText}`;

/** The notifier and the daemon it reports on, which looks through one folder and does nothing else. */
function open({ watchdogMs = null, lookMs = 0 }: { watchdogMs?: number | null; lookMs?: number } = {}) {
  const { notifier, sent } = recordingNotifier(watchdogMs);
  const logger = recordingLogger();
  const stopping = new AbortController();
  const daemon = { scanning: ['/srv/inbox'], uploads: 0, queued: 0, looks: 0, isBroken: false, isTurning: true };
  const picture = async (): Promise<LivePicture> => {
    daemon.looks += 1;
    if (lookMs > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
    if (daemon.isBroken) throw new Error('the ledger cannot be read');
    return somePicture({ stages: stagesWith({ queued: daemon.queued, uploading: daemon.uploads }) });
  };
  const lifecycle = new LifecycleNotifier(notifier, { logger, stopping: stopping.signal });
  const watch = (): void =>
    lifecycle.watch({
      unscanned: () => daemon.scanning,
      picture,
      uploads: () => daemon.uploads,
      progressedAt: () => (daemon.isTurning ? performance.now() : 0),
    });
  /** What was sent since it was last asked. */
  const news = (): string[] => sent.splice(0);
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { lifecycle, daemon, logger, news, pass, watch, stop: () => stopping.abort() };
}

/** One that is ready, with nothing more to say of its start. */
async function openReady(options?: Parameters<typeof open>[0]) {
  const opened = open(options);
  opened.daemon.scanning = [];
  opened.watch();
  await opened.pass(10);
  opened.news();
  return opened;
}

test('it is ready as soon as every folder is scanned, and asks for more time until then', async () => {
  const { lifecycle, daemon, news, pass, watch } = open();
  using _ = lifecycle;
  expect(news()).toEqual([begun]);
  watch();
  await pass(30_000);
  expect(new Set(news())).toEqual(new Set([begun, extended]));
  daemon.scanning = [];
  await pass(100);
  expect(news()).toEqual([ready, 'STATUS=Idle · API 0/1000']);
});

test('folders that are not scanned after a minute no longer block it, and are named', async () => {
  const { lifecycle, logger, news, pass, watch } = open();
  using _ = lifecycle;
  watch();
  await pass(59_000);
  expect(news()).not.toContain(ready);
  await pass(1_000);
  expect(news()).toContain(ready);
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { folders: ['/srv/inbox'] } }]);
});

test('a daemon that does not come up gets no further time after a minute', async () => {
  const { lifecycle, news, pass } = open();
  using _ = lifecycle;
  await pass(60_000);
  news();
  await pass(600_000);
  expect(news()).toEqual([]);
});

test('numbers are reported when they have changed, at most once a second', async () => {
  const { lifecycle, daemon, news, pass } = await openReady();
  using _ = lifecycle;
  await pass(60_000);
  expect(news()).toEqual([]);
  for (daemon.queued = 1; daemon.queued < 100; daemon.queued += 1) await pass(100);
  expect(news().length).toBeLessThanOrEqual(10);
  await pass(1_000);
  expect(news()).toEqual(['STATUS=100 queued · API 0/1000']);
});

test.for([
  { lookMs: 20, leastMs: 2_000 },
  { lookMs: 400, leastMs: 5_000 },
])('a look of $lookMs ms is taken every $leastMs ms', async ({ lookMs, leastMs }) => {
  const { lifecycle, daemon, pass } = await openReady({ lookMs });
  using _ = lifecycle;
  const before = daemon.looks;
  await pass(100 * leastMs);
  expect(daemon.looks - before).toBeLessThanOrEqual(100);
  expect(daemon.looks - before).toBeGreaterThan(90);
});

test('a ledger that cannot be read for the moment ends nothing', async () => {
  const { lifecycle, daemon, news, pass } = await openReady();
  using _ = lifecycle;
  daemon.isBroken = true;
  await pass(10_000);
  Object.assign(daemon, { isBroken: false, queued: 1 });
  await pass(1_000);
  expect(news()).toEqual(['STATUS=1 queued · API 0/1000']);
});

test('the watchdog is fed while the loop turns, from READY on, and never otherwise', async () => {
  const { lifecycle, daemon, news, pass, watch } = open({ watchdogMs: 10_000 });
  using _ = lifecycle;
  watch();
  await pass(20_000);
  expect(news().join()).not.toContain('WATCHDOG');
  daemon.scanning = [];
  await pass(10_000);
  expect(news().filter((text) => text === 'WATCHDOG=1').length).toBeGreaterThanOrEqual(4);
  daemon.isTurning = false;
  await pass(60_000);
  expect(news()).toEqual([]);
});

test('a SIGTERM from before the start is reported as well', () => {
  const { notifier, sent } = recordingNotifier();
  using _ = new LifecycleNotifier(notifier, { logger: recordingLogger(), stopping: AbortSignal.abort() });
  expect(sent.at(-1)).toContain('STOPPING=1');
});

test('SIGTERM is reported at once, then the uploads that are left, with more time requested until the end', async () => {
  const { lifecycle, daemon, news, pass, stop } = await openReady({ watchdogMs: 2_000 });
  daemon.uploads = 2;
  stop();
  expect(news()).toEqual([`STOPPING=1\n${extended}\nSTATUS=${stoppingText(2)}`]);
  daemon.uploads = 1;
  await pass(20_000);
  expect(news()).toEqual([`STATUS=${stoppingText(1)}`, extended, extended, extended, extended]);
  daemon.uploads = 0;
  await pass(1_000);
  expect(news()).toEqual([`STATUS=${stoppingText(0)}`]);
  lifecycle[Symbol.dispose]();
  await pass(20_000);
  expect(news()).toEqual(['closed']);
});

test('an end that hangs gets no further time after three minutes', async () => {
  const { lifecycle, news, pass, stop } = await openReady();
  using _ = lifecycle;
  stop();
  await pass(180_000);
  expect(news()).toHaveLength(36);
  await pass(600_000);
  expect(news()).toEqual([]);
});

test('numbers requested before the stop are not reported during it', async () => {
  const { lifecycle, news, pass, stop } = await openReady({ lookMs: 300 });
  using _ = lifecycle;
  await pass(100);
  stop();
  await pass(2_000);
  expect(news()).toEqual([`STOPPING=1\n${extended}\nSTATUS=${stoppingText(0)}`]);
});

test('one that is stopped while it starts never says that it is ready', async () => {
  const { lifecycle, daemon, news, pass, stop, watch } = open();
  using _ = lifecycle;
  stop();
  daemon.scanning = [];
  watch();
  await pass(10_000);
  expect(news().join()).not.toContain('READY');
});
