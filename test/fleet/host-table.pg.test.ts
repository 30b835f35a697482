import { describe, expect, test } from 'vitest';
import { createHostTable, nothing } from '../../src/fleet/host-table.ts';
import type { HostTable, OwnRow } from '../../src/fleet/host-table.ts';
import { openMember } from '../../src/fleet/open-member.ts';
import { migrate } from '../../src/fleet/postgres/migrations.ts';
import { nameOf } from '../../src/fleet/postgres/client-config.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../src/fleet/postgres/pool.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { placeAt } from '../support/postgres/place.ts';
import { freshDatabase } from '../support/postgres/server.ts';

interface Opened extends AsyncDisposable {
  readonly pool: PostgresPool;
  readonly table: HostTable;
  /** As if so much time had passed since a host was heard. */
  age(name: string, ms: number): Promise<void>;
}

async function open(): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await freshDatabase());
  const place = placeAt(database.url);
  const pool = stack.use(await openPool(place, { hostName: 'a' }));
  await migrate({ pool, name: nameOf(place), user: place.user });
  const moved = stack.move();
  return {
    pool,
    table: createHostTable((text, values) => pool.rows(text, values)),
    age: async (name, ms) => {
      await pool.rows('UPDATE dropcast.host SET heard_at = heard_at - $2 WHERE name = $1', [name, ms]);
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

const row = (name: string, instance: string, other: Partial<OwnRow> = {}): OwnRow => ({
  name,
  instance,
  version: '0.3.0',
  schema: 4,
  clockAheadMs: null,
  doing: nothing,
  ...other,
});

describe('the table of the members', () => {
  test('one statement writes the row of a member and reads those of all', async () => {
    await using opened = await open();
    const { table } = opened;
    await table.beat(row('b', 'one'), null);
    const doing = { slots: 4, places: ['nas1:/'], work: [{ id: 'f_1', upload: null }] };
    const { isOurs, hosts, at } = await table.beat(row('a', 'two', { doing, clockAheadMs: -7 }), null);
    expect(isOurs).toBe(true);
    expect(hosts.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(hosts[0]).toMatchObject({
      doing,
      clockAheadMs: -7,
      version: '0.3.0',
      schema: 4,
      isStopped: false,
      draining: null,
    });
    expect(Math.abs(at - (hosts[0]?.heardAt ?? 0))).toBeLessThan(60_000);
    expect((await table.read()).hosts).toEqual(hosts);
  });

  test.each<[string, (opened: Opened) => Promise<unknown>, string | null, boolean]>([
    ['lives', async () => undefined, null, false],
    ['was heard 14 s ago', (opened) => opened.age('a', 14_000), null, false],
    ['was not heard for 15 s', (opened) => opened.age('a', 15_001), null, true],
    ['has stopped', ({ table }) => table.leave('a', 'one'), null, true],
    ['is the one before, which has ended', async () => undefined, 'one', true],
    ['is another than the one before', async () => undefined, 'zero', false],
  ])('the name of a member that %s', async (_, happens, replaced, isOurs) => {
    await using opened = await open();
    const { table } = opened;
    await table.beat(row('a', 'one'), null);
    await happens(opened);
    const beat = await table.beat(row('a', 'two', { version: '0.4.0' }), replaced);
    expect([beat.isOurs, beat.hosts.map(({ name, version }) => [name, version])]).toEqual([
      isOurs,
      [['a', isOurs ? '0.4.0' : '0.3.0']],
    ]);
  });

  test('of two that want a free name at once, one gets it', async () => {
    await using opened = await open();
    const beats = await Promise.all(['one', 'two'].map((instance) => opened.table.beat(row('a', instance), null)));
    expect(beats.filter(({ isOurs }) => isOurs)).toHaveLength(1);
  });

  test('a host stays drained while it writes its row and when it starts again, until that is taken back', async () => {
    await using opened = await open();
    const { table } = opened;
    const drained = async () => (await table.read()).hosts.map(({ draining }) => draining?.by);
    await table.beat(row('a', 'one'), null);
    expect([await table.drain('a', 'ana'), await table.drain('b', 'ana')]).toEqual([true, false]);
    const since = (await table.read()).hosts[0]?.draining?.since;
    await table.drain('a', 'ben');
    await table.beat(row('a', 'one'), null);
    await table.beat(row('a', 'two'), 'one');
    expect((await table.read()).hosts[0]?.draining).toEqual({ by: 'ben', since });
    await table.drain('a', null);
    expect(await drained()).toEqual([undefined]);
  });

  test('one that lives cannot be removed, and one that was not heard for 30 days removes itself', async () => {
    await using opened = await open();
    const { table } = opened;
    const names = async () => (await table.read()).hosts.map(({ name }) => name);
    for (const name of ['a', 'b', 'c']) await table.beat(row(name, name), null);
    expect(await table.remove('b')).toBe(false);
    await opened.age('b', 20_000);
    expect([await table.remove('b'), await table.remove('b')]).toEqual([true, false]);
    await opened.age('c', 29 * 86_400_000);
    await table.beat(row('a', 'a'), null);
    expect(await names()).toEqual(['a', 'c']);
    await opened.age('c', 86_400_001);
    await table.beat(row('a', 'a'), null);
    expect(await names()).toEqual(['a']);
  });
});

test('a host that crashed and starts again has its name at once; another one waits for it, and is refused', async () => {
  await using opened = await open();
  await using here = await scratchDirectory();
  await using elsewhere = await scratchDirectory();
  const waited: string[] = [];
  const join = (stateDir: string) =>
    openMember(opened.pool, {
      stateDir,
      name: 'a',
      version: '0.3.0',
      schema: 1,
      clock: { now: () => Date.now() },
      logger: silentLogger,
      waits: (sentence) => waited.push(sentence),
    });
  await join(here.path); // and is killed
  await using again = await join(here.path);
  expect([again.known().map(({ name }) => name), again.mayTake(), waited]).toEqual([['a'], true, []]);
  again.start(
    () => nothing,
    () => undefined,
  );
  const beating = setInterval(() => void opened.pool.rows('UPDATE dropcast.host SET heard_at = heard_at + 1'), 50);
  try {
    await expect(join(elsewhere.path)).rejects.toThrow('another host of this fleet runs under the name a');
  } finally {
    clearInterval(beating);
  }
  expect(waited).toHaveLength(1);
  expect((await again.hostsOf(['f_1'])).size).toBe(0);
});
