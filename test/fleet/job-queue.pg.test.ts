import { expect, test } from 'vitest';
import { openJobQueue } from '../../src/fleet/job-queue.ts';
import { lockTable } from '../../src/fleet/postgres/statement.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import { needs } from '../support/needs.ts';
import { startCluster } from '../support/postgres/cluster.ts';
import { placeAt } from '../support/postgres/place.ts';

test('a member writes no warnings into the log of PostgreSQL', needs('postgres'), async () => {
  await using cluster = await startCluster();
  await using pool = await openPool(placeAt(cluster.url), { hostName: 'ingest1' });
  await pool.rows('CREATE SCHEMA dropcast');
  await pool.rows(lockTable);
  await using queue = await openJobQueue({
    pool,
    name: 'file',
    hostName: 'ingest1',
    elapsed: () => performance.now(),
    broke: (error) => {
      throw error;
    },
  });
  const granted = await pool.transaction((ask) => queue.take(ask, 'f_1', 1));
  await queue.supervise();
  if (granted !== null) await queue.complete(granted);
  await queue.supervise();
  expect(await cluster.log()).not.toContain('WARNING');
});
