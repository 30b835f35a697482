import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FolderConfig } from '../../../src/config/config.ts';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { reapply } from '../../../src/daemon/commands/reapply.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import { systemClock } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { eventRow } from '../../../src/daemon/news/lines.ts';
import type { KeptLine } from '../../../src/daemon/news/lines.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { KeptEvents } from '../../../src/pipeline/events.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { createOperatorPauses } from '../../../src/pipeline/operator-pauses.ts';
import { rowsOf } from '../../pipeline/held-rows.ts';
import { day, minute, outside, startCore } from '../../pipeline/running-core.ts';
import { created, failure, ready, someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { someFolderConfig, someRule } from '../../support/folder-config.ts';

const records: Readonly<Record<string, Partial<Facts>>> = {
  'no record': {},
  'a record to which it was sent in part': { ...created, uploadStartedAt: 2 },
};
const ended = { endedAt: 1, why: 'so' };
const states: Readonly<Record<string, Partial<Facts>>> = {
  'in line': {},
  retrying: { notBefore: 100 * day + 10 * minute, lastFailure: failure('transient') },
  failed: { ...ended, end: 'failed', lastFailure: failure('transient') },
  ignored: { ...ended, end: 'skipped', lastFailure: failure('permanent', { code: 'ignored' }) },
};
const commands: Readonly<Record<string, { readonly on: readonly string[]; run(daemon: Daemon): Promise<unknown> }>> = {
  ignore: { on: ['in line', 'retrying', 'failed'], run: (daemon) => ignore(daemon, { names: ['f_1'], by: 'anna' }) },
  'ignore --undo': { on: ['ignored'], run: (daemon) => ignore(daemon, { names: ['f_1'], by: 'anna', isUndone: true }) },
  retry: { on: ['retrying', 'failed', 'ignored'], run: (daemon) => retry(daemon, { names: ['f_1'] }) },
};

const cases = Object.entries(commands).flatMap(([command, { on, run }]) =>
  on.flatMap((state) =>
    Object.entries(records).flatMap(([record, facts]) =>
      (['before', 'after'] as const).map((moment) => ({
        command,
        run,
        state,
        record,
        moment,
        facts: someFacts({ plan: { ...somePlan, publish: [] }, ...facts, ...states[state] }),
      })),
    ),
  ),
);

/** Where a file must come to, by what its row said when the process died. */
function endOf({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): string {
  if (end === null) return 'done';
  return end === 'skipped' ? `skipped, ${lastFailure?.code}` : end;
}

test.each(cases)(
  'a kill $moment the row of a $state file with $record is written leaves $command done or not done, and nothing else: after the restart it continues',
  async ({ run, facts, moment }) => {
    await using scratch = await scratchDirectory();
    const world = outside([]);
    if (facts.videoId !== null) world.service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(facts);
    const image = join(scratch.path, 'image');
    const dying = killedAt(ledger, 'save', moment, () => imageOf(scratch.path, image));
    const core = startCore(world, { ...dying.world, uploadsStartAt: () => Number.MAX_SAFE_INTEGER });
    await run(daemonOf(core.conductor, ledger));
    await core.stop();
    expect(dying.isKilled()).toBe(true);

    await using restarted = await openLedger(image);
    const found = await restarted.load('f_1');
    if (found === null) throw new Error('the row is lost');
    if (moment === 'before') expect(found).toEqual({ ...facts, rev: found.rev });
    const wanted = endOf(found);
    const again = startCore(world, { store: restarted, rows: rowsOf(restarted) });
    if (wanted === 'done') await again.until(async () => (await restarted.load('f_1'))?.end === 'done');
    else await again.pass(3 * minute);
    expect(endOf((await restarted.load('f_1')) ?? found)).toBe(wanted);
    expect(world.service.count('send')).toBe(wanted === 'done' ? 1 : 0);
    // A record that nobody will fill is given back; a file that failed keeps its own.
    const keepsRecord = wanted === 'failed' && facts.videoId !== null;
    expect(world.service.videos.size).toBe(wanted === 'done' || keepsRecord ? 1 : 0);
  },
);

const moments = ['before', 'after'] as const;
type Moment = (typeof moments)[number];

test.each(moments)(
  'a kill %s a pause is written leaves pause and event, or neither, and so does one at its end',
  async (moment) => {
    await using scratch = await scratchDirectory();
    const wanted = { folder: '/inbox', until: null, by: 'anna' };
    const listed = async (stateDir: string) => {
      await using ledger = await openLedger(stateDir);
      const pauses = pausesOf(ledger);
      await pauses.keep();
      return [pauses.list().map(({ folder }) => folder), await textsOf(ledger)];
    };
    await using ledger = await openLedger(scratch.path);
    const images = ['set', 'ended'].map((name) => join(scratch.path, `image-${name}`));
    const [set = '', ended = ''] = images;
    await pausesOf(killedAt(ledger, 'savePause', moment, () => imageOf(scratch.path, set)).world.store).set(wanted);
    await pausesOf(ledger).set(wanted);
    const ending = pausesOf(killedAt(ledger, 'dropPause', moment, () => imageOf(scratch.path, ended)).world.store);
    await ending.end('/inbox', 'anna');
    const isPaused = expect.stringMatching(/^The folder is paused by anna/);
    const isOver = 'The folder is no longer paused: anna ended the pause';
    const [setIs, endedIs] = [await listed(set), await listed(ended)];
    const again = [isPaused, isPaused];
    if (moment === 'before')
      expect([setIs, endedIs]).toEqual([
        [[], []],
        [['/inbox'], again],
      ]);
    else
      expect([setIs, endedIs]).toEqual([
        [['/inbox'], [isPaused]],
        [[], [...again, isOver]],
      ]);
  },
);

test('at every moment of a kill, the pauses are those that the events report', async () => {
  await using scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.path);
  const pauses = pausesOf(ledger);
  const by = 'anna';
  const commands = [
    () => pauses.set({ folder: '/inbox', until: null, by }),
    () => pauses.set({ folder: null, until: null, by }),
    () => pauses.end('/inbox', by),
    () => pauses.set({ folder: '/other', until: null, by }),
    () => pauses.end(null, by),
    () => pauses.end('/other', by),
  ];
  const under = new Set(commands.map((command) => command()));
  for (const each of under) void each.then(() => under.delete(each));
  const images: string[] = [];
  while (under.size > 0) {
    const image = join(scratch.path, `image-${images.length}`);
    imageOf(scratch.path, image);
    images.push(image);
    await setImmediate();
  }
  const found = new Set<string>();
  for (const image of images) {
    await using killed = await openLedger(image);
    const reported = new Set<string | null>();
    for (const { folder, text } of await linesOf(killed)) {
      if (text.includes('no longer')) reported.delete(folder);
      else reported.add(folder);
    }
    const paused = (await killed.pauses()).map(({ folder }) => folder);
    expect(new Set(paused)).toEqual(reported);
    found.add(JSON.stringify(paused));
  }
  // Or the images would show nothing.
  expect(found.size).toBeGreaterThan(3);
});

test.each([
  ['before', 'noteFeedDue', 0],
  ['after', 'noteFeedDue', 1],
  // The request was answered: it is made once more, which changes nothing.
  ['before', 'noteFeedAnswer', 1],
  ['after', 'noteFeedAnswer', 0],
] as const)('a kill %s %s of a publish makes that many requests after the restart', async (moment, method, times) => {
  await using scratch = await scratchDirectory();
  const image = join(scratch.path, 'image');
  await using ledger = await openLedger(scratch.path);
  const dying = killedAt(ledger, method, moment, () => imageOf(scratch.path, image));
  const core = startCore(outside([]), { ...dying.world, events: reporting });
  await core.conductor.publishNow('feed_news');
  await core.until(dying.isKilled);
  await core.stop();
  const world = outside([]);
  await using restarted = await openLedger(image);
  const isAnswered = [moment, method].join(' ') === 'after noteFeedAnswer';
  expect(await textsOf(restarted)).toEqual(isAnswered ? ['Feed feed_news published again'] : []);
  const again = startCore(world, { store: restarted, rows: rowsOf(restarted) });
  await again.pass(3 * minute);
  expect([world.service.count('publish feed_news'), await restarted.feedsDue()]).toEqual([times, []]);
});

test.each([
  ['before', []],
  ['after', ['Feed feed_news published with 1 video']],
] as const)(
  'a kill %s the answer to a publish is written: its event is %j, and the file is done after the restart',
  async (moment, reported) => {
    await using scratch = await scratchDirectory();
    const image = join(scratch.path, 'image');
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(someFacts(ready));
    const dying = killedAt(ledger, 'noteFeedAnswer', moment, () => imageOf(scratch.path, image));
    const core = startCore(outside([]), { ...dying.world, events: reporting });
    await core.until(dying.isKilled);
    await core.stop();
    const world = outside([]);
    await using restarted = await openLedger(image);
    expect(await textsOf(restarted)).toEqual(reported);
    const again = startCore(world, { store: restarted, rows: rowsOf(restarted), events: reporting });
    await again.until(async () => (await restarted.load('f_1'))?.end === 'done');
    expect(world.service.count('publish feed_news')).toBe(1);
    expect(await textsOf(restarted)).toEqual([...reported, 'Feed feed_news published with 1 video']);
  },
);

test.each([
  ['before', 'save', 0],
  ['after', 'save', 1],
  // The new metadata was sent, and is sent once more.
  ['before', 'noteFeedDue', 1],
  ['after', 'noteFeedDue', 1],
] as const)(
  'a kill %s %s of a reapply sends that many requests after the restart, and publishes again',
  async (moment, method, times) => {
    await using scratch = await scratchDirectory();
    const image = join(scratch.path, 'image');
    await using ledger = await openLedger(scratch.path);
    const facts = { ...ready, end: 'done', endedAt: 5, published: { feed_news: 5 }, disposal: 'kept' } as const;
    await ledger.insert(someFacts({ ...facts, folder: scratch.path }));
    const dying = killedAt(ledger, method, moment, () => imageOf(scratch.path, image));
    const core = startCore(outside([]), dying.world);
    const folder = newTitles(scratch.path);
    await reapply(daemonOf(core.conductor, dying.world.store, dying.world.rows, [folder]), { names: ['f_1'] });
    await core.until(dying.isKilled);
    await core.stop();
    const world = outside([]);
    await using restarted = await openLedger(image);
    const again = startCore(world, { store: restarted, rows: rowsOf(restarted) });
    await again.pass(3 * minute);
    expect([world.service.count('amend'), world.service.count('publish feed_news')]).toEqual([times, times]);
    const title = times === 0 ? 'Clip' : 'New';
    expect(await restarted.load('f_1')).toMatchObject({ end: 'done', amendment: null, plan: { title } });
  },
);

/** A ledger whose process dies at the first write of a kind. What it wrote since is on no disk. */
function killedAt(
  ledger: Ledger,
  method: 'save' | 'savePause' | 'dropPause' | 'noteFeedDue' | 'noteFeedAnswer',
  moment: Moment,
  kill: () => void,
) {
  let isKilled = false;
  const write = async (...values: unknown[]): Promise<unknown> => {
    const written = async (): Promise<unknown> => Reflect.apply(ledger[method], ledger, values);
    if (isKilled) return written();
    if (moment === 'before') kill();
    const result = await written();
    if (moment === 'after') kill();
    isKilled = true;
    return result;
  };
  const store = Object.create(ledger, { [method]: { value: write } }) as Ledger;
  return { world: { store, rows: rowsOf(store) }, isKilled: () => isKilled };
}

/** A folder whose rule was changed. */
function newTitles(path: string): FolderConfig {
  const { channel, tags, publish } = somePlan;
  return someFolderConfig(path, { rules: [someRule({ title: 'New', channel, tags, publish })] });
}

/** Each event that reports a write is kept with it. */
const reporting: KeptEvents = { emit: () => undefined, rowOf: (event) => eventRow('here', event, Date.now()) };

async function linesOf({ events }: Ledger): Promise<readonly KeptLine[]> {
  return (await events({ host: 'here', since: 0, limit: 100 })).map(({ line }) => line as KeptLine);
}

async function textsOf(ledger: Ledger): Promise<readonly string[]> {
  return (await linesOf(ledger)).map(({ text }) => text);
}

function pausesOf(store: Ledger) {
  return createOperatorPauses({
    store,
    clock: systemClock,
    elsewhere: null,
    events: reporting,
    ended: () => undefined,
  });
}

/** The files as they are at this very moment: what a killed process leaves. */
function imageOf(stateDir: string, image: string): void {
  mkdirSync(image, { mode: 0o700 });
  for (const name of readdirSync(stateDir))
    if (!name.startsWith('image')) copyFileSync(join(stateDir, name), join(image, name));
}

function daemonOf(
  conductor: Daemon['conductor'],
  ledger: Ledger,
  rows: Pick<Daemon['rows'], 'held'> = { held: () => [] },
  folders: readonly FolderConfig[] = [],
): Daemon {
  return {
    conductor,
    ledger,
    rows,
    folders: { reroute: async () => 'known' },
    config: () => ({ folders, poll: { intervalMs: 5_000 } }),
  } as unknown as Daemon;
}
