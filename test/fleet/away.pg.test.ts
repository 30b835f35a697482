import { join } from 'node:path';
import { expect, test } from 'vitest';
import { controlRoutes } from '../../src/daemon/control/routes.ts';
import { healthOf } from '../../src/daemon/health.ts';
import { startCluster } from '../support/postgres/cluster.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

/** As docs/fleet.md says: the address, the time and the reason. */
const away = /PostgreSQL at [\d.]+:\d+ has not answered since [\d: -]+: [^"]*[a-z]/;

/** What is asked for, with the status of the answer and what is in it while PostgreSQL is away. */
const asked: readonly (readonly [path: string, status: number, text: RegExp])[] = [
  ['/status', 200, /has not answered since .*paused by ana.*waiting\.mp4.*waiting for the database/],
  ['/status?all=1', 500, away],
  ['/overview', 200, away],
  ['/files', 200, /a\.mp4/],
  ['/files?state=failed', 500, away],
  ['/file?name=a.mp4', 200, /a\.mp4/],
  ['/file?name=b.mp4', 500, away],
  ['/hosts', 200, away],
  ['/events', 200, /PostgreSQL/],
  ['/suspects', 200, /./],
  ['/adoption', 500, away],
  ['/facts', 500, away],
];

test('while PostgreSQL is away, what was asked before is answered as it was, everything else with a sentence, and all of it again once it is back', async () => {
  await using cluster = await startCluster();
  await using fleet = await startFleet({}, { server: cluster });
  const { daemon, inbox } = await fleet.start('one');
  await daemon.pauses.set({ folder: inbox, until: null, by: 'ana' });
  await fleet.drop(join(inbox, 'waiting.mp4'));
  const reload = async () => ({ ok: true, problems: [], config: '' });
  const app = controlRoutes(daemon, { reload, pageLink: () => null, testNotifications: async () => [] });
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const answer = await app.request(path);
    return [answer.status, await answer.text()];
  };
  for (const name of ['a.mp4', 'b.mp4']) await fleet.drop(join(fleet.share, name));
  await until('both are ready', async () => (await daemon.ledger.totals('by state'))['awaiting publish'] === 2);
  await until('one waits', async () => (await daemon.ledger.find('waiting.mp4')).length === 1);
  for (const [path, status] of asked) if (status === 200) expect([path, (await ask(path))[0]]).toEqual([path, 200]);

  await cluster.stop('immediate');
  await until('it is noticed', () => daemon.fleet?.awaySince() != null);
  expect(healthOf(daemon.waits())).toBe('away');
  await until('the news say so', async () => (await ask('/events'))[1].includes('PostgreSQL'));
  for (const [path, status, text] of asked)
    expect([path, ...(await ask(path))]).toEqual([path, status, expect.stringMatching(text)]);
  expect(daemon.waits()[0]).toMatchObject({ cause: 'database', why: expect.stringMatching(away) });

  await cluster.start();
  await until('it is back', () => daemon.fleet?.awaySince() === null);
  for (const [path] of asked) await until(`${path} is answered`, async () => (await ask(path))[0] === 200);
});
