import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openFleet } from '../../../src/fleet/open-fleet.ts';
import type { OpenFleet } from '../../../src/fleet/open-fleet.ts';
import { created, someFacts, someVersion } from '../../pipeline/some-facts.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const page = await readFile(join(import.meta.dirname, '../../../docs/fleet.md'), 'utf8');
/** The grants that the page names for a read-only role, once the tables exist. */
const grants = [...page.matchAll(/```sql\n(.*?)```/gs)]
  .map(([, text = '']) => text)
  .find((text) => text.includes('USAGE'));

/** Members of a fleet with one row, and a session of a role as docs/fleet.md grants it. */
async function fleetAndReader() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await freshDatabase());
  const scratch = stack.use(await scratchDirectory());
  const joined = async (hostName: string): Promise<OpenFleet> =>
    openFleet({
      place: placeAt(url),
      stateDir: scratch.file(hostName),
      hostName,
      version: '0.0.0',
      config: () => ({ folders: [], uploads: { concurrency: 1 } }),
      clock: { now: () => Date.now(), elapsed: () => performance.now() },
      logger: silentLogger,
      repaired: () => undefined,
    });
  const member = stack.use(await joined('ingest1'));
  await member.ledger.insert(
    someFacts({ id: 'f_1', ...created, uploadUrl: 'https://uploads.example/x?signature=secret' }),
  );
  const role = `reader_${new URL(url).pathname.slice(1)}`;
  const owner = stack.adopt(new Client(url), (client) => client.end());
  await owner.connect();
  await owner.query(`CREATE ROLE ${role} LOGIN; ${grants?.replaceAll('dropcast_reader', role)}`);
  stack.defer(async () => void (await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)));
  const address = new URL(url);
  address.username = role;
  const reader = stack.adopt(new Client(address.href), (client) => client.end());
  await reader.connect();
  const parts = stack.move();
  return {
    member,
    reader,
    owner,
    join: async (name: string) => parts.use(await joined(name)),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test('a role that only reads sees the files, but no address that something can be uploaded to', async () => {
  await using there = await fleetAndReader();
  const { rows } = await there.reader.query('SELECT id, state, path, title, host FROM dropcast.file');
  expect(rows).toEqual([
    { id: 'f_1', state: 'awaiting upload', path: 'clip.mp4', title: expect.any(String), host: 'ingest1' },
  ]);
  await there.reader.query('SELECT name, heard_at FROM dropcast.host');
  for (const text of [
    'SELECT upload_url FROM dropcast.file',
    'SELECT upload_headers FROM dropcast.file',
    'SELECT * FROM dropcast.file',
    'SELECT file::text FROM dropcast.file',
    'SELECT message FROM dropcast.outbox',
    'SELECT doing FROM dropcast.host',
    'SELECT token FROM dropcast.create_request',
    'SELECT data FROM dropcast_jobs.job',
    'DELETE FROM dropcast.file',
  ])
    await expect(there.reader.query(text), text).rejects.toThrow('permission denied');
});

test('a role that only reads can hold no lock that a member waits for', async () => {
  await using there = await fleetAndReader();
  for (const text of [
    'SELECT name FROM dropcast.lock FOR UPDATE',
    'SELECT name FROM dropcast.lock FOR KEY SHARE',
    'SELECT id FROM dropcast.file FOR SHARE',
    'LOCK TABLE dropcast.lock IN ACCESS SHARE MODE',
    'LOCK TABLE dropcast.file IN ACCESS SHARE MODE',
    'LOCK TABLE dropcast.schema_step IN ACCESS SHARE MODE',
    'LOCK TABLE dropcast_jobs.job IN ACCESS SHARE MODE',
  ])
    await expect(
      there.reader.query(`DO $$ BEGIN PERFORM 1; ${text.replace(/^SELECT/, 'PERFORM')}; END $$`),
      text,
    ).rejects.toThrow('permission denied');
});

/** Keys of pg-boss: those that it computes for its schema, with what each is for. */
const keysOfBoss = [
  '',
  'create-queue',
  'jobfailJobsByTimeout',
  'jobfailJobsByHeartbeat',
  'jobdeletion',
  'jobcleanupDependencies',
].map(
  (key) =>
    `('x' || encode(sha224((current_database() || '.pgboss.dropcast_jobs${key}')::bytea), 'hex'))::bit(64)::bigint`,
);

test('members work on, and others join, while that role holds every advisory lock that pg-boss has', async () => {
  await using there = await fleetAndReader();
  for (const key of keysOfBoss) await there.reader.query(`SELECT pg_advisory_lock(${key})`);
  const { member } = there;
  await member.ledger.insert(someFacts({ id: 'f_2', path: 'other.mp4', version: { ...someVersion, ino: '2' } }));
  const claim = await member.ledger.claim('f_2');
  expect(
    await member.ledger.save({ ...(claim?.facts ?? someFacts()), attempts: 1 }, 'a line of the history'),
  ).toMatchObject({ attempts: 1 });
  await claim?.release();
  const newcomer = await there.join('ingest2');
  expect(await newcomer.ledger.totals('by state')).toEqual({ 'awaiting upload': 1, queued: 1 });
});
