import { expect, test } from 'vitest';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { waitsOf } from '../../../src/view/waits.ts';
import { overviewView } from '../../../src/view/picture/documents.ts';
import { createPictures } from '../../../src/view/picture/take-picture.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { DropcastEvent } from '../../../src/pipeline/events.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, uploaded } from '../../pipeline/some-facts.ts';
import { someFolder } from './some-picture.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

// The view of a file looks at the clock of the machine.
const noon = new Date('2099-11-22T12:10:00').getTime();
const minute = 60_000;

/** A ledger with these rows, and pictures of it whose daemon works on some. */
/** A conductor that has nothing to do. */
const quiet = {
  pause: () => null,
  pauses: { all: () => null, list: () => [], holds: () => null },
  createsWaitUntil: () => null,
  createsPauses: () => [],
  comparison: () => null,
  names: { unknown: () => [] },
  feedsWaiting: () => [],
  uploads: () => [],
  nextPollAt: () => null,
  quotaRoom: () => null,
  pace: () => ({ bytesPerSecond: null, processingMs: null, latePoll: null }),
};

async function pictureOf(rows: readonly Partial<Facts>[], daemonOther: object = {}) {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const ledger = stack.use(await openLedger(scratch.path));
  for (const [n, row] of rows.entries())
    await ledger.insert(
      someFacts({ id: `f_${n}`, path: `${n}.mp4`, ...(row.videoId && { videoId: `vid_${n}` }), ...row }),
    );
  const world = { now: noon, elapsed: 0, held: [] as readonly string[], reads: 0 };
  const listeners: ((event: DropcastEvent) => void)[] = [];
  const daemon = {
    startedAt: noon,
    ledger: {
      ...ledger,
      snapshot: (query: Parameters<typeof ledger.snapshot>[0]) => {
        world.reads += 1;
        return ledger.snapshot(query);
      },
    },
    fleet: null,
    conductor: {
      ...quiet,
      feedsWaiting: () => [{ feed: 'feed_news', files: 2, latestAt: noon + minute, failure: null, nextTryAt: null }],
      pollTrouble: () => null,
      nextPollAt: () => noon + 40_000,
      noSlot: () => null,
      uploads: () => [{ id: 'f_1', sentBytes: 2_500, sizeBytes: 5_000, startedAt: 0, idleMs: 0, bytesPerSecond: 100 }],
      pace: () => ({ bytesPerSecond: 100, processingMs: 10 * minute, latePoll: null }),
    },
    rows: { held: () => world.held, isHeld: (id: string) => world.held.includes(id) },
    expectations: { list: () => [] },
    messageTargets: { deaf: () => [] },
    gate: {
      snapshot: () => ({
        used: 412,
        limit: 1_000,
        blockedUntil: 0,
        total: 9,
        others: 7,
        waiting: 0,
        blockedMs: 0,
        reported: { left: 5, inMs: 2 * minute },
        frees: [[minute, 15]],
      }),
    },
    folders: {
      countSettling: () => 4,
      status: () => [
        someFolder({ path: '/inbox' }),
        someFolder({ path: '/mnt/nas', state: 'frozen', why: 'not mounted' }),
      ],
    },
    times: { startAt: () => null, limit: () => null, limitUntil: () => null, mayStart: () => true, later: () => [] },
    pauses: { holds: () => null },
    config: () => ({
      poll: { intervalMs: 15_000 },
      uploads: { concurrency: 4 },
      publish: { quietMs: 1, atMostMs: 1 },
      folders: [{ path: '/inbox', rules: [{ publish: ['feed_news', 'feed_other'] }] }],
    }),
    ...daemonOther,
  } as unknown as Daemon;
  const { conductor, folders, gate, times } = daemon;
  const frozenFolders = () =>
    folders.status().flatMap(({ path, state, why }) => (state === 'frozen' ? [{ path, why: why ?? '' }] : []));
  const ports = {
    conductor: { ...conductor, names: { unknown: () => [] } },
    gate,
    times,
    folders: { frozenFolders },
    fleet: null,
  };
  daemon.waits = () => waitsOf(ports, world.now);
  const picture = createPictures(daemon, {
    events: { listen: (listener) => (listeners.push(listener), () => true) },
    clock: { now: () => world.now, elapsed: () => world.elapsed },
  });
  const tell = (event: DropcastEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const parts = stack.move();
  return { picture, world, tell, ledger, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const failed = {
  end: 'failed',
  endedAt: noon - minute,
  lastFailure: failure('permanent', { code: 'no_upload_url' }),
} as const;
const rows: readonly Partial<Facts>[] = [
  { discoveredAt: noon - 60 * minute },
  { ...created, uploadStartedAt: noon - 5 * minute },
  { ...uploaded, uploadedAt: noon - 4 * minute },
  { ...ready, readyAt: noon - minute },
  { notBefore: noon + minute },
  { ...ready, end: 'done', endedAt: noon - minute, published: { feed_news: noon - minute } },
  failed,
];

test('each file is in one stage; the stage where all wait most says why', async () => {
  await using opened = await pictureOf(rows);
  opened.world.held = ['f_1'];
  const { stages, retrying, sentence } = await opened.picture();
  expect(stages.map(({ name, files, oldest_since }) => [name, files, oldest_since])).toEqual([
    ['settling', 4, null],
    ['queued', 1, noon - 60 * minute],
    ['uploading', 1, noon - 5 * minute],
    ['processing', 1, noon - 4 * minute],
    ['publishing', 1, noon - minute],
    ['live', 1, null],
  ]);
  expect(stages.filter(({ bottleneck }) => bottleneck !== null)).toMatchObject([
    { name: 'processing', bottleneck: 'it takes about 10 min per video' },
  ]);
  expect(retrying).toEqual({ files: 1, next_at: noon + minute });
  expect(sentence).toEqual({
    level: 'attention',
    text: 'Uploading 1, 5 waiting, 2 on the service, 1 retrying; 1 folder is frozen; 1 needs you.',
  });
});

test('files under way say when they are ready or looked at, in the order in which they came', async () => {
  await using opened = await pictureOf(rows);
  opened.world.held = ['f_1'];
  const { now } = await opened.picture();
  expect(now.files.map(({ id, state }) => [id, state])).toEqual([
    ['f_1', 'uploading'],
    ['f_2', 'processing'],
    ['f_3', 'awaiting publish'],
    ['f_4', 'retrying'],
  ]);
  const [sending, processing, , retrying] = now.files;
  expect(sending).toMatchObject({ sent: 2_500, size: 5_000, bytes_per_second: 100, kind: 'video' });
  expect((sending?.ready_at ?? 0) - (sending?.sent_at ?? 0)).toBe(10 * minute + 15_000);
  expect(processing).toMatchObject({ ready_at: noon + 6 * minute + 15_000, next_look_at: noon + 40_000 });
  expect(retrying).toMatchObject({ ready_at: null, next_look_at: noon + minute });
  expect(now.more).toBe(0);
});

test('budget, feeds, folders in trouble and files that need you are there', async () => {
  await using opened = await pictureOf(rows);
  const { budget, feeds, folders, needs_you: needsYou } = overviewView(await opened.picture());
  expect(budget).toEqual({
    used: 412,
    limit: 1_000,
    others: 7,
    blocked_until: null,
    reported: { left: 5, until: noon + 2 * minute },
    total: 9,
    frees: [{ at: noon + minute, requests: 15 }],
  });
  expect(feeds).toEqual([
    { feed: 'feed_news', published_at: noon - minute, waiting: 2, next_at: noon + minute, failure: null },
    { feed: 'feed_other', published_at: null, waiting: 0, next_at: null, failure: null },
  ]);
  expect(folders).toEqual([{ path: '/mnt/nas', state: 'frozen', why: 'not mounted' }]);
  expect(needsYou).toMatchObject({ files: 1, causes: [{ key: 'no_upload_url', files: 1 }] });
});

test('the last day is 48 half hours with what ended in each; today begins at midnight', async () => {
  const at = (hours: number): number => noon - hours * 60 * minute;
  await using opened = await pictureOf([
    { end: 'done', endedAt: noon - minute },
    { end: 'done', endedAt: at(11) },
    { end: 'done', endedAt: at(13) },
    { end: 'done', endedAt: at(25) },
    { ...failed, endedAt: at(1) },
    { ...failed, end: 'held', endedAt: at(1) },
  ]);
  const { day } = await opened.picture();
  expect(day.slots).toHaveLength(48);
  expect(day.slots.at(-1)).toEqual({ at: noon - 10 * minute, done: 1, failed: 0, bytes: 5_000 });
  expect(day).toMatchObject({ done: 3, failed: 2, bytes: 15_000, today: { done: 2, failed: 2, bytes: 10_000 } });
});

test('what changes later is counted: only the half hours in which something ended are asked for again', async () => {
  await using opened = await pictureOf([{ end: 'done', endedAt: noon - minute }]);
  expect((await opened.picture()).day.done).toBe(1);
  const facts = someFacts({ id: 'f_late', end: 'done', endedAt: noon - 2 * minute, path: 'late.mp4' });
  await opened.ledger.insert(facts);
  expect((await opened.picture()).day.done).toBe(1);
  opened.tell({ type: 'file', before: null, facts, note: null });
  expect((await opened.picture()).day.done).toBe(2);
});

test('rows are read again only after one was written, and rarely while many are', async () => {
  await using opened = await pictureOf(rows);
  const { picture, world, tell } = opened;
  for (let n = 0; n < 5; n += 1) await picture();
  expect(world.reads).toBe(1);
  tell({ type: 'file', before: null, facts: someFacts(), note: null });
  await picture();
  expect(world.reads).toBe(1);
  // What is shown is out of date: there is something to look at again, but not at once.
  expect(picture.wasBehind()).toBe(false);
  world.elapsed += 10 * minute;
  // Another reader's fresh picture does not help the one who got the old rows.
  await picture({ isFresh: true });
  expect(picture.wasBehind()).toBe(true);
  expect(picture.wasBehind()).toBe(false);
  await picture();
  expect(world.reads).toBe(2);
});

test('a stage counts the files that left it in the last hour, those of before the start too', async () => {
  await using opened = await pictureOf([{}]);
  const { picture, tell, world } = opened;
  const before = someFacts({ ...uploaded, id: 'f_x' });
  tell({ type: 'file', before, facts: { ...before, readyAt: noon }, note: null });
  tell({ type: 'file', before, facts: { ...before, readyAt: noon, end: 'done', endedAt: noon }, note: null });
  const counts = async () => Object.fromEntries((await picture()).stages.map(({ name, last_hour: n }) => [name, n]));
  expect(await counts()).toMatchObject({ processing: 2, publishing: 1, live: 1 });
  world.now += 61 * minute;
  expect(await counts()).toMatchObject({ processing: 0, publishing: 0, live: 0 });
});

test('when nothing can be sent, the sentence says why and when it is tried again', async () => {
  const pause = { kind: 'offline', holds: 'everything', why: 'no answer', since: noon, nextProbeAt: noon + minute };
  await using opened = await pictureOf([], {
    conductor: { ...quiet, pause: () => pause },
  });
  const { sentence, pauses } = overviewView(await opened.picture());
  expect(sentence).toMatchObject({
    level: 'stopped',
    text: 'Waiting for the service: nothing new is sent; 1 folder is frozen.',
  });
  expect(pauses).toEqual([
    { what: 'everything', why: 'no answer, since 12:10; next try at 12:11', since: noon, until: noon + minute },
  ]);
});

test('a pause that a person set says who, until when, and how it ends', async () => {
  const byAnna = { folder: null, since: noon - 10 * minute, until: noon + 60 * minute, by: 'anna' };
  await using opened = await pictureOf([], {
    conductor: {
      ...quiet,
      pauses: {
        all: () => byAnna,
        list: () => [byAnna, { ...byAnna, folder: '/inbox', until: null }],
        holds: () => byAnna,
      },
    },
    folders: { countSettling: () => 0, status: () => [] },
  });
  const { sentence, pauses } = overviewView(await opened.picture());
  expect(sentence.text).toBe('Paused by anna since 12:00 until 13:10: nothing new is sent.');
  expect(pauses.map(({ what, why, until }) => [what, why, until])).toEqual([
    ['everything', 'paused by anna since 12:00 until 13:10; `dropcast resume --all` ends it', noon + 60 * minute],
    ['/inbox', 'paused by anna since 12:00; `dropcast resume /inbox` ends it', null],
  ]);
});
