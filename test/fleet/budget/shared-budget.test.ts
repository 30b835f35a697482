import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { budgetOfOneHost } from '../../../src/host/budget-store.ts';
import { emptyWindow, usedOf } from '../../../src/host/budget-window.ts';
import type { BudgetWindow } from '../../../src/host/budget-window.ts';
import { FakeTable } from './fake-table.ts';
import { joinFleet } from './members.ts';
import type { Member } from './members.ts';
import { fullestHour } from './rolling-hours.ts';

const minute = 60_000;
const hour = 60 * minute;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12, 0, 10) });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));
const times = (members: readonly Member[]): number[] => members.flatMap(({ sent }) => sent.map(({ at }) => at));
const stored = ({ row }: FakeTable): BudgetWindow => JSON.parse(row?.spent ?? '') as BudgetWindow;

async function fleet(hosts: number, options: Parameters<typeof joinFleet>[1] = {}, table = new FakeTable()) {
  const members = Array.from({ length: hosts }, () => joinFleet(table, options));
  await pass(100);
  const end = async (): Promise<void> => {
    await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
  };
  return { table, members, end };
}

describe('hosts that share a budget', () => {
  test('together send at most the limit in any rolling hour, and more than 95 % of it', async () => {
    const { members, end } = await fleet(4);
    for (const member of members)
      for (const priority of ['create', 'poll', 'finish'] as const) member.askAlways(priority);
    await pass(4 * hour);
    const sent = times(members);
    expect(fullestHour(sent)).toBeLessThanOrEqual(100);
    expect(sent.length).toBeGreaterThan(95 * 4);
    await end();
  });

  test.each([
    ['one request falls out of the hour every six seconds', Array.from({ length: 60 }, () => 10)],
    ['nearly all requests fall out of it at once', [1, 595, 1, 1, 1, 1]],
  ])('each get their share, where %s', async (_name, counts) => {
    const table = new FakeTable();
    const now = Math.floor(Date.now() / minute);
    const minutes = counts.map((count, n) => [now - counts.length + n, count] as const);
    table.row = { spent: JSON.stringify({ ...emptyWindow, minutes }), rev: 1 };
    const { members, end } = await fleet(4, { limit: 600 }, table);
    for (const member of members) member.askAlways('create');
    await pass(2 * hour);
    const all = times(members).length;
    expect(all).toBeGreaterThan(2 * 0.95 * 600);
    for (const { sent } of members) expect(sent.length / all).toBeGreaterThan(0.15);
    await end();
  });

  test('each have what was spent stored before a request leaves', async () => {
    const { table, members, end } = await fleet(3);
    for (const member of members) member.ask('create', 5);
    for (let step = 0; step < 2_000; step += 1) {
      await pass(0.1);
      expect(usedOf(stored(table))).toBeGreaterThanOrEqual(times(members).length);
    }
    expect(times(members)).toHaveLength(15);
    await end();
  });

  test('know within five seconds what the others have spent, and at once when they are notified', async () => {
    const { members, end } = await fleet(2);
    const [one, other] = members as [Member, Member];
    one.ask('create', 3);
    await pass(5_000);
    expect(other.gate.snapshot()).toMatchObject({ used: 3, limit: 100, total: 3 });
    one.ask('create', 2);
    await pass(30);
    other.gate.changedElsewhere();
    await pass(10);
    expect(other.gate.snapshot().used).toBe(5);
    await end();
  });

  test('use one statement for a request, and for several that wait together', async () => {
    const { table, members, end } = await fleet(1, { limit: 1_000 });
    const [one] = members as [Member];
    const before = table.statements;
    for (let n = 0; n < 10; n += 1) {
      one.ask('create');
      await pass(25);
    }
    expect(table.statements - before).toBe(10);
    one.ask('create', 10);
    await pass(25);
    expect(one.sent).toHaveLength(20);
    expect(table.statements - before).toBe(11);
    await end();
  });

  test('keep nothing from each other: what was counted for a request that is given up is given back', async () => {
    const { table, members, end } = await fleet(1);
    const [one] = members as [Member];
    const stop = new AbortController();
    const given = one.gate.take('create', stop.signal).catch(() => 'given up');
    await pass(0.6);
    stop.abort();
    expect(await given).toBe('given up');
    await pass(5_100);
    expect(usedOf(stored(table))).toBe(0);
    expect(one.gate.snapshot()).toMatchObject({ used: 0, total: 0 });
    await end();
  });

  test.each([-10, 10])('may have clocks that are %i minutes off', async (minutes) => {
    const table = new FakeTable();
    const right = joinFleet(table, { limit: 20 });
    const wrong = joinFleet(table, { limit: 20, clockOff: minutes * minute });
    await pass(100);
    for (const member of [right, wrong]) member.askAlways('finish');
    await pass(3 * hour);
    expect(fullestHour(times([right, wrong]))).toBe(20);
    expect(times([right, wrong]).length).toBeGreaterThanOrEqual(57);
    await Promise.all([right, wrong].map((member) => member[Symbol.asyncDispose]()));
  });
});

describe('lanes are kept over all hosts', () => {
  test('polls and creates of one host leave what another needs to finish', async () => {
    const { members, end } = await fleet(2);
    const [one, other] = members as [Member, Member];
    one.ask('create', 200);
    one.ask('poll', 200);
    await pass(10 * minute);
    expect(one.sent).toHaveLength(98);
    other.ask('finish', 2);
    await pass(100);
    expect(other.sent).toHaveLength(2);
    await end();
  });

  test('what falls out of the hour goes first to who finishes, on whichever host', async () => {
    const { members, end } = await fleet(4);
    const [one, ...others] = members as [Member, Member, Member, Member];
    one.ask('finish', 100);
    await pass(minute);
    expect(one.sent).toHaveLength(100);
    for (const other of others) {
      other.ask('poll', 200);
      other.ask('create', 200);
    }
    one.ask('finish', 60);
    await pass(61 * minute);
    expect(one.sent).toHaveLength(160);
    await end();
  });
});

describe('a limit that the service reports to one host', () => {
  const report = (member: Member, remaining: number, resetMs: number): void =>
    member.gate.reported({
      limits: [{ name: 'X-RateLimit 50', remaining, resetMs, isPolicyOnly: false }],
      unanswered: 0,
      ignored: [],
    });

  test('is that of all: together they send what is left of it', async () => {
    const { members, end } = await fleet(4);
    const [one] = members as [Member];
    one.ask('finish');
    await pass(100);
    report(one, 12, 10 * minute);
    one.ask('finish');
    await pass(100);
    for (const member of members) member.ask('finish', 20);
    await pass(9 * minute);
    expect(times(members)).toHaveLength(13);
    await pass(2 * minute);
    expect(times(members)).toHaveLength(82);
    await end();
  });

  test('stops the next request of another if nothing is left, until the reset', async () => {
    const { members, end } = await fleet(2);
    const [one, other] = members as [Member, Member];
    one.ask('finish');
    await pass(100);
    report(one, 0, minute);
    await pass(100);
    other.ask('finish', 3);
    await pass(minute - 1_000);
    expect(other.sent).toEqual([]);
    await pass(2_000);
    expect(other.sent).toHaveLength(3);
    await end();
  });
});

describe('a 429 that one host gets', () => {
  test('says that others use the key: there is room again as that fades, and not only when the hour is over', async () => {
    const { members, end } = await fleet(2, { limit: 1_000 });
    const [one, other] = members as [Member, Member];
    one.ask('finish');
    await pass(10);
    one.gate.throttled(11_000);
    await pass(12_000);
    for (const member of [one, other]) member.ask('create');
    await pass(10_000);
    expect(times([one, other])).toHaveLength(1);
    await pass(10 * 60_000);
    expect(times([one, other])).toHaveLength(3);
    await end();
  });

  test('pauses all of them, and then one request of one host goes first', async () => {
    const { members, end } = await fleet(4);
    const [one, ...others] = members as [Member, Member, Member, Member];
    one.gate.throttled(90_000);
    await pass(2);
    for (const other of others) other.ask('finish', 2);
    await pass(89_000);
    expect(times(others)).toEqual([]);
    await pass(2_000);
    expect(times(others)).toHaveLength(1);
    await pass(10_000);
    expect(times(others)).toHaveLength(6);
    expect(others[0].gate.snapshot().blockedUntil).toBe(0);
    await end();
  });

  test.each([0, 0.2, 0.5, 0.7, 1])(
    'is not lost to a request of another host that is counted %d ms later',
    async (ms) => {
      const { table, members, end } = await fleet(2);
      const [one, other] = members as [Member, Member];
      one.gate.throttled(60_000);
      await pass(ms);
      other.ask('finish', 3);
      await pass(20);
      expect(stored(table).blockedUntil).toBeGreaterThan(Date.now() + 59_000);
      expect(one.gate.snapshot().blockedMs).toBeGreaterThan(59_000);
      await end();
    },
  );

  test.each([0, 0.1, 0.3, 0.5, 0.7, 1])(
    'is not lost to a request of another host that was asked for %d ms before',
    async (ms) => {
      const { table, members, end } = await fleet(2);
      const [one, other] = members as [Member, Member];
      other.ask('finish', 3);
      await pass(ms);
      one.gate.throttled(60_000);
      await pass(30);
      expect(stored(table).blockedUntil).toBeGreaterThan(Date.now() + 59_000);
      await end();
    },
  );

  test('before this host has read anything blocks from then on', async () => {
    const table = new FakeTable();
    const one = joinFleet(table);
    one.gate.throttled(60_000);
    await pass(10);
    expect(one.gate.snapshot().blockedMs).toBeGreaterThan(59_000);
    await one[Symbol.asyncDispose]();
  });

  test('is kept while the database is away, and ends when it was to end', async () => {
    const { table, members, end } = await fleet(2);
    const [one, other] = members as [Member, Member];
    table.isAway = true;
    one.gate.throttled(60_000);
    await pass(30_000);
    expect(one.gate.snapshot().blockedMs).toBe(30_000);
    table.isAway = false;
    await pass(5_100);
    other.ask('finish');
    await pass(20_000);
    expect(other.sent).toEqual([]);
    await pass(6_000);
    expect(other.sent).toHaveLength(1);
    await end();
  });
});

describe('a database', () => {
  test('that is away lets nothing leave; then all continue', async () => {
    const { table, members, end } = await fleet(3);
    table.isAway = true;
    for (const { gate } of members) {
      const refused = expect(gate.take('finish')).rejects.toThrow('PostgreSQL does not answer');
      await pass(10);
      await refused;
    }
    expect(times(members)).toEqual([]);
    table.isAway = false;
    for (const member of members) member.ask('finish');
    await pass(5_100);
    expect(times(members)).toHaveLength(3);
    await end();
  });

  test('whose answer is lost has the request counted, and it does not leave', async () => {
    const { table, members, end } = await fleet(1);
    const [one] = members as [Member];
    table.losesAnswer = true;
    const refused = expect(one.gate.take('finish')).rejects.toThrow('the connection was cut');
    await pass(10);
    await refused;
    one.ask('finish');
    await pass(10);
    expect(one.gate.snapshot().used).toBe(2);
    await end();
  });

  test.each([
    ['an hour forward', hour],
    ['an hour back', -hour],
    ['ten days forward', 240 * hour],
    ['ten days back', -240 * hour],
    ['a minute forward', minute],
    ['half a second forward', 500],
    ['half a second back', -500],
  ])('whose clock is set %s keeps every rolling hour, and no host waits longer', async (_name, jump) => {
    const { table, members, end } = await fleet(3, { limit: 30 });
    // Who waits already waits as long as it was to: new requests ask.
    members[0]?.ask('finish', 30);
    await pass(20 * minute);
    table.ahead = jump;
    await pass(6_000);
    for (const member of members) member.askAlways('finish');
    await pass(3 * hour);
    expect(fullestHour(times(members))).toBeLessThanOrEqual(30);
    expect(times(members).length).toBeGreaterThanOrEqual(90);
    await end();
  });

  test('whose answer comes a minute later has the request counted again in the minute in which it leaves', async () => {
    const { table, members, end } = await fleet(1);
    const [one] = members as [Member];
    const delays = [0.5, 70_000];
    table.latencyMs = () => delays.shift() ?? 0.5;
    one.ask('finish');
    await pass(75_000);
    expect(one.sent).toHaveLength(1);
    const leftAt = Date.now() - (performance.now() - (one.sent[0]?.at ?? 0));
    expect(stored(table).minutes).toEqual([[Math.floor(leftAt / minute), 1]]);
    await end();
  });

  test('whose clock was set while no host ran, back, keeps the hour', async () => {
    const before = await fleet(1, { limit: 10 });
    before.members[0]?.ask('finish', 10);
    await pass(minute);
    await before.end();
    before.table.ahead = -hour;
    const after = await fleet(1, { limit: 10 }, before.table);
    after.members[0]?.ask('finish', 10);
    await pass(hour - 2 * minute);
    expect(times(after.members)).toEqual([]);
    await pass(5 * minute);
    expect(times(after.members)).toHaveLength(10);
    await after.end();
  });

  test('that has lost the last writes counts what the hosts know of them', async () => {
    const { table, members, end } = await fleet(2, { limit: 20 });
    const [one, other] = members as [Member, Member];
    one.ask('finish', 8);
    await pass(minute);
    const { row } = table;
    one.ask('finish', 8);
    await pass(minute);
    table.row = row;
    await pass(5_100);
    for (const member of [one, other]) member.ask('finish', 8);
    await pass(50 * minute);
    expect(times(members)).toHaveLength(20);
    await end();
  });
});

describe('the judge sees', () => {
  test('a budget per host', async () => {
    const members = Array.from({ length: 2 }, () => joinFleet(new FakeTable(), { limit: 20 }));
    for (const member of members) member.askAlways('finish');
    await pass(2 * hour);
    expect(fullestHour(times(members))).toBeGreaterThan(20);
    await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
  });

  test('the clock of the host', async () => {
    const table = new FakeTable();
    const ofHost = (off: number) =>
      joinFleet(table, {
        limit: 20,
        wrap: (store) => {
          const { now } = budgetOfOneHost(
            { load: async () => emptyWindow, save: async () => undefined },
            {
              now: () => Date.now() + off,
              elapsed: () => performance.now(),
            },
            () => performance.now(),
          );
          return {
            load: () => store.load(),
            swap: (from, window) => store.swap(from, window),
            now,
            sharing: store.sharing,
          };
        },
      });
    const members = [ofHost(0), ofHost(30 * minute)];
    for (const member of members) member.askAlways('finish');
    await pass(2 * hour);
    expect(fullestHour(times(members))).toBeGreaterThan(20);
    await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
  });
});
