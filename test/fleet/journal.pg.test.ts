import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { startCluster } from '../support/postgres/cluster.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

test('of an outage of PostgreSQL, however long, the journal says once that it does not answer, and once that it does again', async () => {
  await using cluster = await startCluster();
  const logger = recordingLogger();
  await using fleet = await startFleet({}, { server: cluster, logger });
  const { daemon, inbox } = await fleet.start('one');
  await fleet.drop(join(inbox, 'a.mp4'));
  await until('it is published', async () => (await daemon.ledger.totals('by state'))['done'] === 1);
  const first = logger.lines.length;

  await cluster.stop('immediate');
  await until('it is noticed', () => daemon.fleet?.awaySince() != null);
  await fleet.drop(join(inbox, 'b.mp4'));
  const failed = () => logger.lines.filter(({ message }) => message === 'Cannot check sidecars again').length;
  await until('what asks regularly has failed again and again', () => failed() > 2);
  await cluster.start();
  await until('it is back', () => daemon.fleet?.awaySince() === null);
  await until('work goes on', async () => (await daemon.ledger.totals('by state'))['done'] === 2);

  const said = logger.lines.slice(first).filter(({ level }) => level !== 'debug');
  const ofNoFile = said.filter(({ fields }) => fields['path'] === undefined);
  expect(ofNoFile.map(({ message }) => message)).toEqual([
    'PostgreSQL does not answer: uploads in flight continue, everything else waits',
    'PostgreSQL answers again',
  ]);
  expect(said[0]?.fields['why']).toMatch(/^PostgreSQL at [\d.]+:\d+ has not answered since [\d: -]+: ./);
});
