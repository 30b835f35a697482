import { expect, test } from 'vitest';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { until } from '../../support/until.ts';
import { openAlone } from './sharing-host.ts';

const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test('writes that PostgreSQL undoes, because they and another session wait for each other, are done again', async () => {
  await using host = await openAlone();
  await using other = await openPool(placeAt(host.url), { hostName: 'other' });
  const { store } = host;
  const [a, b] = [someFacts({ id: 'a', path: 'a.mp4' }), someFacts({ id: 'b', path: 'b.mp4' })];
  await store.insert(a);
  await store.insert(b);
  const writes: Promise<unknown>[] = [];
  await other.transaction(async (ask) => {
    // Who has waited for so long looks for a ring, and is undone when there is one: here it is the host.
    await ask(`set local deadlock_timeout = '1min'`);
    await ask(`select 1 from dropcast.file where id = 'b' for update`);
    writes.push(store.save({ ...a, attempts: 1 }), store.save({ ...b, attempts: 1 }));
    await until('the host waits', async () => (await other.rows(waiting)).length > 0);
    await ask(`select 1 from dropcast.file where id = 'a' for update`);
  });
  expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect((await store.load('b'))?.attempts).toBe(1);
  const [undone] = await other.rows('select deadlocks from pg_stat_database where datname = current_database()');
  expect(undone).toBeDefined();
});

test('a write that is always undone is refused after some tries', async () => {
  await using host = await openAlone();
  await host.store.insert(someFacts());
  await host.pool.rows(`create function dropcast.conflict() returns trigger language plpgsql
    as $$ begin raise exception 'again' using errcode = '40001'; end $$`);
  await host.pool.rows(`create trigger conflict before update on dropcast.file execute function dropcast.conflict()`);
  await expect(host.store.save({ ...someFacts(), attempts: 1 })).rejects.toThrow(/another session blocks it/);
});

test('a write that PostgreSQL could not put in order with another is done again', async () => {
  await using host = await openAlone();
  await host.store.insert(someFacts());
  await host.pool
    .rows(`create sequence dropcast.tries; create function dropcast.conflict() returns trigger language plpgsql
    as $$ begin if nextval('dropcast.tries') < 3 then raise exception 'again' using errcode = '40001'; end if; return new; end $$`);
  await host.pool.rows(
    `create trigger conflict before update on dropcast.file for each row execute function dropcast.conflict()`,
  );
  expect(await host.store.save({ ...someFacts(), attempts: 1 })).toMatchObject({ rev: 1, attempts: 1 });
  expect((await host.store.history('f_1')).length).toBe(1);
});
