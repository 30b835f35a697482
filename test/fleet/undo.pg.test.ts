import { join } from 'node:path';
import { expect, test } from 'vitest';
import { first } from '../../src/daemon/commands/first.ts';
import { undo, undoOf } from '../../src/daemon/commands/undo.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

const by = 'root';

test('undo works on a host that can read the files, and another host names it', async () => {
  await using fleet = await startFleet();
  const one = await fleet.start('one');
  const two = await fleet.start('two');
  await fleet.drop(join(one.inbox, 'own.mp4'));
  await fleet.drop(join(fleet.share, 'shared.mp4'));
  const states = async () => (await one.daemon.ledger.rows({ group: 'any' })).map(stateOf);
  await until('both are done', async () => (await states()).filter((state) => state === 'done').length === 2);
  expect(await first(two.daemon, { names: ['own.mp4'], by })).toMatchObject({
    files: 0,
    refused: [{ why: expect.stringContaining('no turn') }],
  });

  const asked = await undo(two.daemon, { by });
  expect(asked).toMatchObject({ planned: true, files: 1, feeds: ['feed_news'] });
  expect(asked.left.map(({ why }) => why)).toEqual(['only one can read its folder: run this on one']);

  const before = fleet.service.publishes.length;
  expect(await undo(two.daemon, { by, yes: 1 })).toMatchObject({ planned: false, why: null });
  await until('the run of two is over', async () => (await undoOf(two.daemon)).run?.ended_at != null);
  // Each host has a run of its own.
  expect((await undoOf(one.daemon)).run).toBeNull();
  expect(await undo(one.daemon, { by, yes: 1 })).toMatchObject({ planned: false, why: null });
  await until('the run of one is over', async () => (await undoOf(one.daemon)).run?.ended_at != null);
  expect(await states()).toEqual(['skipped', 'skipped']);
  expect([...fleet.service.videos.values()].filter(({ status }) => status === 'ready')).toEqual([]);
  await until('the feed is published without them', () => fleet.service.publishes.length > before);
});
