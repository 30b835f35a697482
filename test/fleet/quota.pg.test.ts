import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

test('two hosts share service.quota: together they create no more than it allows, and what is under way', async () => {
  await using fleet = await startFleet({}, { quota: { videos: 6, per: 'month' } });
  const members = [await fleet.start('one'), await fleet.start('two')];
  for (const { inbox } of members)
    await Promise.all(Array.from({ length: 10 }, (_, n) => fleet.drop(join(inbox, `${n}.mp4`))));
  for (const { daemon } of members)
    await until('the host knows that the quota is used up', () =>
      daemon.conductor.createsPauses().some(({ why }) => why.startsWith('service.quota: ')),
    );
  // A host does not see the create requests that the other one has under way, at most two.
  const most = 6 + 2;
  expect(fleet.service.videos.size).toBeGreaterThanOrEqual(6);
  expect(fleet.service.videos.size).toBeLessThanOrEqual(most);
  await until('each record has its file', async () => {
    const { done = 0, 'awaiting publish': ready = 0 } = (await members[0]?.daemon.ledger.totals('by state')) ?? {};
    return done + ready === fleet.service.videos.size;
  });
  expect(fleet.service.videos.size).toBeLessThanOrEqual(most);
});
