import { expect, test } from 'vitest';
import { examineDatabase } from '../../src/fleet/examine-database.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import { placeAt } from '../support/postgres/place.ts';
import { freshDatabase } from '../support/postgres/server.ts';

test('the database says what its doctor needs, also to a user who may do little', async () => {
  await using database = await freshDatabase();
  await using owner = await openPool(placeAt(database.url), { hostName: 'a' });
  const role = `little_${database.name}`;
  const empty = await examineDatabase(owner, () => Date.now() + 600_000);
  expect(empty).toMatchObject({
    isStandby: false,
    hasTables: false,
    mayCreate: true,
    closedTables: [],
    jobSchema: null,
  });
  expect(Math.abs(empty.clockAheadMs - 600_000)).toBeLessThan(60_000);
  expect(empty.connections.most).toBeGreaterThan(empty.connections.open);
  for (const text of [
    'CREATE SCHEMA dropcast',
    'CREATE TABLE dropcast.file (id text, host text)',
    'CREATE TABLE dropcast.host (name text)',
    'CREATE SCHEMA dropcast_jobs',
    'CREATE TABLE dropcast_jobs.version (version int)',
    'INSERT INTO dropcast_jobs.version VALUES (43)',
    `CREATE ROLE ${role} LOGIN`,
  ])
    await owner.rows(text);
  try {
    expect(await examineDatabase(owner, Date.now)).toMatchObject({ hasTables: true, closedTables: [], jobSchema: 43 });
    await using little = await openPool({ ...placeAt(database.url), user: role }, { hostName: 'b' });
    const all = ['dropcast.file', 'dropcast.host', 'dropcast_jobs.version'];
    expect(await examineDatabase(little, Date.now)).toMatchObject({
      user: role,
      mayCreate: false,
      hasTables: true,
      closedTables: all,
    });
    await owner.rows(`GRANT USAGE ON SCHEMA dropcast, dropcast_jobs TO ${role}`);
    await owner.rows(`GRANT SELECT, INSERT, UPDATE, DELETE ON dropcast.file, dropcast_jobs.version TO ${role}`);
    await owner.rows(`GRANT SELECT ON dropcast.host TO ${role}`);
    expect(await examineDatabase(little, Date.now)).toMatchObject({ closedTables: ['dropcast.host'], jobSchema: 43 });
  } finally {
    await owner.rows(`DROP OWNED BY ${role}`);
    await owner.rows(`DROP ROLE ${role}`);
  }
});
