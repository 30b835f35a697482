import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCluster } from '../support/postgres/cluster.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

test('a file whose row is lost with the database is taken in again by a host that runs on', async () => {
  await using cluster = await startCluster();
  await using fleet = await startFleet({}, { server: cluster });
  const { daemon, inbox } = await fleet.start('one');
  await daemon.pauses.set({ folder: null, until: null, by: 'ana' });
  for (const name of ['lost.mp4', 'stays.mp4']) await fleet.drop(join(inbox, name));
  const ids = async () =>
    new Map((await daemon.ledger.rows({ group: 'any', limit: 10 })).map(({ path, id }) => [path, id] as const));
  await until('all have rows', async () => (await ids()).size === 2);
  const before = await ids();

  // As a server has them that lacks the last writes.
  await fleet.ask(`delete from dropcast.file where path = 'lost.mp4'`);
  await cluster.stop('immediate');
  await cluster.start();

  await until('it has a row again', async () => (await ids()).has('lost.mp4'));
  const after = await ids();
  expect(after.get('stays.mp4')).toBe(before.get('stays.mp4'));
});
