import { describe, expect, test } from 'vitest';
import type { Grant } from '../../src/fleet/job-queue.ts';
import { until } from '../support/until.ts';
import type { LeaseFleet, LeaseHolder } from './members.ts';
import { openLeaseFleet } from './members.ts';

/** As if the host that has this file had been silent for longer than a heartbeat, and another one had looked. */
async function silence(fleet: LeaseFleet, other: LeaseHolder, key: string): Promise<void> {
  const aged = `update dropcast_jobs.job set heartbeat_on = heartbeat_on - interval '1 minute' where singleton_key = $1 and state = 'active'`;
  await fleet.ask(aged, [key]);
  // pg-boss looks once a second at most.
  await until('another host looked', async () => {
    await other.queue.supervise();
    const free = `select 1 from dropcast_jobs.job where singleton_key = $1 and state = 'retry'`;
    return (await fleet.ask(free, [key])).length > 0;
  });
}

/** As a transaction of writes does. @returns how many of the files are ours */
async function fenced({ leases, pool }: LeaseHolder, ...ids: readonly string[]): Promise<number> {
  return pool.transaction(async (ask) => {
    const { text, values } = leases.fence(ids);
    return (await ask(text.replace('?', '$1'), values)).length;
  });
}

const jobs = `select state::text, count(*)::int from dropcast_jobs.job where name = 'file' group by state order by state`;

describe('leases', () => {
  test('hosts that start at once make the tables of the jobs once', async () => {
    await using fleet = await openLeaseFleet(1);
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => fleet.join(name)));
    expect(await a?.leases.claim('f_1')).not.toBeNull();
    expect([await b?.leases.claim('f_1'), await c?.leases.claim('f_1')]).toEqual([null, null]);
  });

  test('each of 200 files goes to one of three hosts that want all of them at once', async () => {
    await using fleet = await openLeaseFleet(200);
    const members = [await fleet.join('a'), await fleet.join('b'), await fleet.join('c')];
    const ids = Array.from({ length: 200 }, (_, n) => `f_${n + 1}`);
    const got = await Promise.all(
      members.map(async ({ leases }) => {
        const mine: string[] = [];
        for (const id of ids) if ((await leases.claim(id)) !== null) mine.push(id);
        return mine;
      }),
    );
    expect(got.flat().toSorted()).toEqual(ids.toSorted());
    expect(await fleet.ask(jobs)).toEqual([{ state: 'active', count: 200 }]);
  });

  test('an unknown file is granted to no host, and leaves no job', async () => {
    await using fleet = await openLeaseFleet(1);
    const one = await fleet.join('a');
    expect([await one.leases.claim('f_7'), await fleet.ask(jobs)]).toEqual([null, []]);
  });

  test('a host that is silent for a heartbeat loses its file to the next that wants it, and can neither write nor renew nor give back', async () => {
    await using fleet = await openLeaseFleet(1);
    const [silent, other] = [await fleet.join('a'), await fleet.join('b')];
    const first = await silent.leases.claim('f_1');
    expect(await fenced(silent, 'f_1')).toBe(1);
    await silence(fleet, other, 'f_1');
    expect(await fenced(silent, 'f_1')).toBe(0);
    const second = await other.leases.claim('f_1');
    expect(second).not.toBeNull();
    expect([await fenced(silent, 'f_1'), await fenced(other, 'f_1')]).toEqual([0, 1]);
    await silent.leases[Symbol.asyncDispose]();
    expect([await fenced(other, 'f_1'), await second?.renew()]).toEqual([1, true]);
    expect([await first?.renew(), first?.lost.aborted, second?.lost.aborted]).toEqual([false, true, false]);
  });

  test('the heartbeat of a host and its writes lock its jobs in the same order: neither undoes the other', async () => {
    await using fleet = await openLeaseFleet(12);
    const host = await fleet.join('a');
    const ids = Array.from({ length: 12 }, (_, n) => `f_${n + 1}`);
    for (const id of ids) await host.leases.claim(id);
    const active = `select id::text as job, singleton_key as key, retry_count as attempt from dropcast_jobs.job where state = 'active' order by id`;
    const held = (await fleet.ask(active)) as unknown as readonly (Grant & { readonly key: string })[];
    const waiting = async (sessions: number): Promise<void> => {
      const found = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until('they wait', async () => (await fleet.ask(found)).length >= sessions);
    };
    for (const order of [held, held.toReversed()]) {
      // Somebody has one in the middle, so that the first of the two has some of the others when the second comes.
      await fleet.ask('begin');
      await fleet.ask(`select 1 from dropcast_jobs.job where id = $1::uuid for update`, [held[5]?.job]);
      const first = fenced(host, ...order.map(({ key }) => key));
      await waiting(1);
      const second = host.queue.touch(order);
      await waiting(2);
      await fleet.ask('commit');
      expect([await first, (await second).size]).toEqual([12, 12]);
    }
  });

  test('one that finds out by its own touch has lost the file as well', async () => {
    await using fleet = await openLeaseFleet(1);
    const [silent, other] = [await fleet.join('a'), await fleet.join('b')];
    const first = await silent.leases.claim('f_1');
    await silence(fleet, other, 'f_1');
    const second = await other.leases.claim('f_1');
    expect([await first?.renew(), first?.lost.aborted]).toEqual([false, true]);
    await first?.release();
    expect([await second?.renew(), await silent.leases.claim('f_1')]).toEqual([true, null]);
  });

  // pg-boss 535: with other policies a job that is tried again and a new one for the same key wedge each other.
  test('a job that is tried again admits no second one for its file, and is had by the next who wants it', async () => {
    await using fleet = await openLeaseFleet(1);
    const [one, other] = [await fleet.join('a'), await fleet.join('b')];
    for (const attempt of [0, 1, 2]) {
      expect(await one.queue.take(one.pool.rows, 'f_1', 1)).toMatchObject({ attempt });
      expect(await other.queue.take(other.pool.rows, 'f_1', 1)).toBeNull();
      await silence(fleet, other, 'f_1');
      expect(await fleet.ask(jobs)).toEqual([{ state: 'retry', count: 1 }]);
    }
    const claim = await other.leases.claim('f_1');
    await claim?.release();
    expect(await fleet.ask(jobs)).toEqual([{ state: 'completed', count: 1 }]);
    expect(await one.leases.claim('f_1')).not.toBeNull();
  });

  test('files that are given back leave nothing behind, whatever their number', async () => {
    await using fleet = await openLeaseFleet(100);
    const one = await fleet.join('a');
    for (let n = 1; n <= 100; n += 1) await one.leases.claim(`f_${n}`).then((claim) => claim?.release());
    expect(await fleet.ask(jobs)).toEqual([{ state: 'completed', count: 100 }]);
    await fleet.ask(`update dropcast_jobs.job set completed_on = completed_on - interval '1 hour'`);
    await fleet.ask(`update dropcast_jobs.queue set maintain_on = null, monitor_on = null`);
    await one.queue.supervise();
    expect(await fleet.ask(jobs)).toEqual([]);
  });

  test('a claim takes five statements in addition to the read of its row, and releasing it takes one', async () => {
    await using fleet = await openLeaseFleet(21);
    const one = await fleet.join('a');
    await one.leases.claim('f_1').then((claim) => claim?.release());
    const [claims, releases]: [number[], number[]] = [[], []];
    for (let n = 2; n <= 21; n += 1) {
      const before = one.statements();
      const claim = await one.leases.claim(`f_${n}`);
      const claimed = one.statements();
      await claim?.release();
      claims.push(claimed - before);
      releases.push(one.statements() - claimed);
    }
    // BEGIN, the number of the row, send, fetch, COMMIT. What the host asks beside it every two seconds only adds to some of them.
    expect([Math.min(...claims), Math.min(...releases)]).toEqual([5, 1]);
  });
});
