import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { overviewView } from '../../src/view/picture/documents.ts';
import { fleetTroubles } from '../../src/view/hosts/host-words.ts';
import { sightsNow } from '../../src/view/hosts/sights.ts';
import { eventually, until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

/** What a host says of the files of its fleet, in the views that remember something. */
async function said(daemon: Daemon, share: string) {
  const status = await daemon.picture({ isFresh: true });
  const overview = overviewView(status);
  const stages = Object.fromEntries(overview.stages.map(({ name, last_hour: lastHour }) => [name, lastHour]));
  return {
    counts: status.counts['done'],
    'folder of status': status.folders.find(({ path }) => path === share)?.accounts.known,
    'all folders of status': status.accounts.known,
    sentence: overview.sentence,
    'last hour': [stages['processing'], stages['publishing']],
    today: overview.day.today.done,
    slots: overview.day.slots.reduce((sum, { done }) => sum + done, 0),
    feeds: overview.feeds.map(({ feed, published_at: at, waiting }) => [feed, at !== null, waiting]),
    expected: daemon.expectations.list().map(({ arrived, live }) => [arrived, live]),
    pauses: [overview.pauses.map(({ what }) => what), daemon.pauses.list().map(({ folder }) => folder)],
  };
}

test.each([
  ['that was there before', true],
  ['that started later', false],
])('a host %s says of files that another host brought to their end what that one says', async (_when, isBefore) => {
  await using fleet = await startFleet({}, { expect: [{ match: '**', by: '23:59', count: 2 }] });
  const writer = await fleet.start('one');
  const early = isBefore ? await fleet.start('two') : null;
  await early?.daemon.fleet?.drain('two', 'test');
  if (early !== null) await said(early.daemon, fleet.share);
  for (const name of ['a.mp4', 'b.mp4']) await fleet.drop(join(fleet.share, name));
  await until('both are done', async () => (await writer.daemon.ledger.totals('by state'))['done'] === 2);
  await writer.daemon.pauses.set({ folder: fleet.share, until: null, by: 'test' });
  const { daemon } = early ?? (await fleet.start('two'));
  for (const host of [writer.daemon, daemon])
    await eventually('it is told', async () => expect(await said(host, fleet.share)).toEqual(theTruth(fleet.share)), {
      withinMs: 20_000,
    });
});

test('a host says what only another one can see: a folder of its own that is away', async () => {
  await using fleet = await startFleet();
  const { daemon } = await fleet.start('one');
  const { inbox } = await fleet.start('two');
  // The daemon may write into it at the same time.
  await rm(inbox, { recursive: true, maxRetries: 10 });
  const words = async (): Promise<readonly string[]> => {
    const { fleet: seen } = await daemon.picture({ isFresh: true });
    return seen === null ? [] : fleetTroubles(seen, Date.now());
  };
  await eventually('it is told', async () =>
    expect(await words()).toEqual([expect.stringMatching(`^two: ${inbox} cannot be used: .*[^.]\\.$`)]),
  );
  const sights = (): unknown => sightsNow(daemon).map(({ host, folders }) => [host, folders.map(({ path }) => path)]);
  expect(sights()).toEqual([
    ['one', []],
    ['two', [inbox]],
  ]);
});

const theTruth = (share: string): Awaited<ReturnType<typeof said>> => ({
  counts: 2,
  'folder of status': { done: 2 },
  'all folders of status': { done: 2 },
  sentence: expect.any(Object) as never,
  'last hour': [2, 2],
  today: 2,
  slots: 2,
  feeds: [['feed_news', true, 0]],
  expected: [[2, 2]],
  pauses: [[share], [share]],
});
