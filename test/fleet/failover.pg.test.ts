import { symlink, unlink } from 'node:fs/promises';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openFleet } from '../../src/fleet/open-fleet.ts';
import type { OpenFleet } from '../../src/fleet/open-fleet.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import type { LogFields } from '../../src/log/logger.ts';
import type { PostgresPlace } from '../../src/fleet/postgres/client-config.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { startCluster } from '../support/postgres/cluster.ts';
import type { Cluster } from '../support/postgres/cluster.ts';
import { placeAt } from '../support/postgres/place.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

/** A primary, a standby, and an address that follows whoever is the primary. */
interface Servers extends AsyncDisposable {
  readonly primary: Cluster;
  readonly standby: Cluster;
  readonly place: PostgresPlace;
  /** The standby takes over, without what was written since it was cut off. */
  failOver(): Promise<void>;
}

async function startServers(): Promise<Servers> {
  await using stack = new AsyncDisposableStack();
  const primary = stack.use(await startCluster({ standby: true }));
  const { standby } = primary;
  if (standby === null) throw new Error('no standby');
  const directory = stack.use(await scratchDirectory());
  const socket = directory.file('.s.PGSQL.5432');
  const pointTo = async (server: Cluster): Promise<void> => {
    const { host, port } = placeAt(server.socketUrlOf('postgres'));
    await unlink(socket).catch(() => undefined);
    await symlink(`${host}/.s.PGSQL.${port}`, socket);
  };
  await pointTo(primary);
  const parts = stack.move();
  return {
    primary,
    standby,
    place: { ...placeAt(primary.socketUrlOf('postgres')), host: directory.path, port: 5432 },
    failOver: async () => {
      await primary.kill();
      await standby.start();
      await standby.promote();
      await pointTo(standby);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function ask({ url }: Cluster, statement: string): Promise<readonly unknown[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

interface Started extends AsyncDisposable {
  readonly fleet: OpenFleet;
  readonly stateDir: string;
  /** What it said to the log. */
  readonly told: string[];
}

async function join(place: PostgresPlace, hostName: string, stateDir: string): Promise<Started> {
  const told: string[] = [];
  const tell = (message: string, { why }: LogFields = {}): void => void told.push(`${message}: ${String(why)}`);
  const fleet = await openFleet({
    place,
    stateDir,
    hostName,
    version: '1.0.0',
    config: () => ({ folders: [{ path: '/inbox', share: 'nas1' }], uploads: { concurrency: 1 } }),
    clock: { now: () => Date.now(), elapsed: () => performance.now() },
    logger: { error: tell, warn: tell, info: tell, debug: () => undefined },
    repaired: (what) => told.push(`damage: ${what}`),
  });
  return { fleet, stateDir, told, [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose]() };
}

/** While the database is away, null. */
async function whenBack<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof LedgerUnavailableError && error.reason === 'away') return null;
    throw error;
  }
}

/** Creates a video for a file, as far as the ledger and the receipts go. */
async function bind({ fleet: { ledger }, stateDir }: Started, id: string): Promise<void> {
  await using receipts = await openReceipts(stateDir);
  const claim = await ledger.claim(id);
  if (claim === null) throw new Error('somebody has it');
  const intended = await ledger.save({ ...claim.facts, intent: 't' });
  const bound = { ...intended, ...created, intent: null };
  await receipts.append('bound', bound);
  await ledger.save(bound);
}

test('after a standby took over without the last writes, no host takes anything new before the others had time to bring in their receipts', async () => {
  await using servers = await startServers();
  await using directories = await scratchDirectory();
  const [own, others] = [directories.file('a'), directories.file('b')];
  await using one = await join(servers.place, 'a', own);
  const { ledger, sharing: turn } = one.fleet;
  {
    await using other = await join(servers.place, 'b', others);
    await ledger.insert(someFacts());
    await until(
      'the standby has it',
      async () => (await ask(servers.standby, 'SELECT id FROM dropcast.file')).length > 0,
    );
    await servers.standby.stop();
    await bind(other, 'f_1');
    await ledger.insert(someFacts({ id: 'f_2', path: 'other.mp4' }));
  }
  await servers.failOver();
  await until('the rows can be read', () => whenBack(async () => (await ledger.load('f_1')) !== null));
  expect(await ledger.load('f_1')).toMatchObject({ videoId: null });
  expect(await ledger.claim('f_1')).toBeNull();
  await until('it has noticed', () => one.told.some((line) => line.includes('another server')));
  expect(await ledger.claim('f_1')).toBeNull();
  expect(turn.signal()).toBeNull();
  const again = someFacts({ id: 'f_3', path: 'other.mp4' });
  await expect(ledger.insert(again)).rejects.toThrow(/^the database now runs on another server/);

  await using back = await join(servers.place, 'b', others);
  expect(await ledger.load('f_1')).toMatchObject({ videoId: 'vid_1' });
  expect([await ledger.claim('f_1'), await back.fleet.ledger.claim('f_1')]).toEqual([null, null]);
  await ask(servers.standby, 'UPDATE dropcast.server SET since = since - 60000');
  expect((await ledger.claim('f_1'))?.facts).toMatchObject({ videoId: 'vid_1' });
  await ledger.insert(again);
  await until('one of them has the turn', () => [one, back].some(({ fleet }) => fleet.sharing.signal() !== null));
});

test('a host that reaches a standby does not start, and says why', async () => {
  await using servers = await startServers();
  await using directory = await scratchDirectory();
  await using one = await join(servers.place, 'a', directory.file('a'));
  await one.fleet.ledger.insert(someFacts());
  await until(
    'the standby has it',
    async () => (await ask(servers.standby, 'SELECT id FROM dropcast.file')).length > 0,
  );
  const place = placeAt(servers.standby.socketUrlOf('postgres'));
  await expect(join(place, 'b', directory.file('b'))).rejects.toThrow(
    new LedgerError(
      `the ledger cannot be opened: PostgreSQL at ${place.host}: it is a standby or read-only, and takes no changes; ledger must name the primary server`,
    ),
  );
});

test('after the same server started again, files are granted at once', async () => {
  await using cluster = await startCluster();
  await using directory = await scratchDirectory();
  await using one = await join(placeAt(cluster.socketUrlOf('postgres')), 'a', directory.file('a'));
  const { ledger } = one.fleet;
  await ledger.insert(someFacts());
  await cluster.stop('immediate');
  await cluster.start();
  expect(await until('it answers', () => whenBack(async () => ({ claim: await ledger.claim('f_1') })))).not.toEqual({
    claim: null,
  });
  await ledger.insert(someFacts({ id: 'f_2', path: 'other.mp4' }));
});
