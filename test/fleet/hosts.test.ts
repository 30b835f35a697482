import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { heardMs, nothing } from '../../src/fleet/host-table.ts';
import type { HostTable, OwnRow, StoredHost } from '../../src/fleet/host-table.ts';
import { joinFleet } from '../../src/fleet/hosts.ts';
import type { Member, MemberWorld } from '../../src/fleet/hosts.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';

/** The table in memory, with a clock of its own. */
class MemoryTable implements HostTable {
  now = 5_000_000;
  awaySince: number | null = null;
  rows: StoredHost[] = [];
  beats = 0;

  async beat(row: OwnRow, replaced: string | null) {
    this.#answer();
    this.beats += 1;
    const other = this.rows.find(({ name }) => name === row.name);
    const isFree =
      other === undefined ||
      other.isStopped ||
      [row.instance, replaced].includes(other.instance) ||
      other.heardAt < this.now - heardMs;
    if (isFree) {
      const { draining = null } = other ?? {};
      const stored = { ...row, startedAt: this.now, heardAt: this.now, isStopped: false, draining };
      this.rows = [...this.rows.filter((each) => each !== other), stored];
    }
    return { at: this.now, hosts: this.rows, isOurs: isFree };
  }

  async read() {
    this.#answer();
    return { at: this.now, hosts: this.rows };
  }

  async leave(name: string, instance: string) {
    this.#answer();
    this.#change(name, (row) => (row.instance === instance ? { isStopped: true } : {}));
  }

  async drain(name: string, by: string | null) {
    this.#answer();
    this.#change(name, () => ({ draining: by === null ? null : { since: this.now, by } }));
    return this.rows.some((row) => row.name === name);
  }

  async remove(name: string) {
    this.#answer();
    const kept = this.rows.filter((row) => row.name !== name || (!row.isStopped && row.heardAt >= this.now - heardMs));
    const isRemoved = kept.length < this.rows.length;
    this.rows = kept;
    return isRemoved;
  }

  #change(name: string, change: (row: StoredHost) => Partial<StoredHost>): void {
    this.rows = this.rows.map((row) => (row.name === name ? { ...row, ...change(row) } : row));
  }

  #answer(): void {
    if (this.awaySince !== null) throw new Error('connection refused');
  }
}

let table: MemoryTable;
let clock: TestClock;
const members: Member[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  table = new MemoryTable();
  clock = new TestClock();
});
afterEach(async () => {
  for (const member of members.splice(0)) await member[Symbol.asyncDispose]();
  vi.useRealTimers();
});

/** @param other.during what happens each second while it waits for its name */
async function join(
  name: string,
  { during = () => undefined, ...other }: Partial<MemberWorld> & { during?: () => void } = {},
) {
  const waited: string[] = [];
  const kept: string[] = [];
  const member = await joinFleet({
    table,
    hostsOf: async () => new Map(),
    awaySince: () => table.awaySince,
    whyAway: () => (table.awaySince === null ? null : 'PostgreSQL is away'),
    name,
    version: '0.3.0',
    schema: 4,
    before: null,
    keep: async (instance) => void kept.push(instance),
    clock,
    logger: silentLogger,
    waits: (sentence) => waited.push(sentence),
    announce: async () => undefined,
    rest: async (ms) => {
      table.now += ms;
      during();
    },
    ...other,
  });
  members.push(member);
  return { member, waited, kept };
}

/** A row of a member of another process. */
const foreign = (name: string, other: Partial<StoredHost> = {}): StoredHost => ({
  name,
  instance: 'foreign',
  version: '0.3.0',
  schema: 4,
  startedAt: 0,
  heardAt: table.now,
  isStopped: false,
  clockAheadMs: null,
  draining: null,
  doing: nothing,
  ...other,
});

const nextBeat = async (): Promise<void> => {
  table.now += 5_000;
  clock.advance(5_000);
  await vi.advanceTimersByTimeAsync(5_000);
};

describe('joining', () => {
  test('a member that starts again takes its own row over at once', async () => {
    const first = await join('a');
    const second = await join('a', { before: first.kept[0] ?? '' });
    expect([second.waited, second.kept.length, table.rows.length]).toEqual([[], 1, 1]);
  });

  test('the name of a member that was killed elsewhere is waited for, and that is said once', async () => {
    table.rows = [foreign('a', { heardAt: table.now - 4_000 })];
    const { member, waited } = await join('a');
    expect(member.known().map(({ name, isHeard }) => [name, isHeard])).toEqual([['a', true]]);
    expect(waited).toEqual([
      'a member named a was heard 4 s ago: waiting up to 15 s, until it is certain that it no longer runs',
    ]);
  });

  test('a second living member of the same name is refused, with a sentence', async () => {
    table.rows = [foreign('a')];
    const living = () => {
      table.rows = [foreign('a')];
    };
    const joined = join('a', { during: living });
    await expect(joined).rejects.toThrow(LedgerError);
    await expect(joined).rejects.toThrow(
      'another host of this fleet runs under the name a (dropcast 0.3.0): give each host a host_name of its own',
    );
  });
});

describe('a member', () => {
  test('writes what it does every 5 s, and knows the others with times by its own clock', async () => {
    clock.set(table.now + 600_000);
    const { member } = await join('a');
    let sent = 1;
    member.start(
      () => ({ ...nothing, slots: (sent += 1) }),
      () => undefined,
    );
    await nextBeat();
    await nextBeat();
    table.rows = [
      ...table.rows,
      foreign('b', { heardAt: table.now - 20_000, draining: { since: table.now - 60_000, by: 'ana' } }),
    ];
    await nextBeat();
    const [a, b] = [table.rows.find(({ name }) => name === 'a'), member.known().find(({ name }) => name === 'b')];
    expect([a?.doing.slots, a?.clockAheadMs]).toEqual([sent, 600_000]);
    expect(b).toMatchObject({
      isHeard: false,
      heardAt: clock.now() - 25_000,
      draining: { since: clock.now() - 65_000, by: 'ana' },
    });
  });

  test('continues silently while the database is away, and keeps what it knew', async () => {
    table.rows = [foreign('b')];
    const { member } = await join('a');
    let heard = 0;
    member.start(
      () => nothing,
      () => (heard += 1),
    );
    await nextBeat();
    table.awaySince = clock.now();
    await nextBeat();
    await nextBeat();
    expect(member.awaySince()).toBe(table.awaySince);
    expect(member.known().map(({ name, isHeard }) => [name, isHeard])).toEqual([
      ['b', true],
      ['a', true],
    ]);
    expect(member.mayTake()).toBe(true);
    table.awaySince = null;
    await nextBeat();
    expect([member.awaySince(), heard]).toEqual([null, 5]);
  });

  test('takes no work while it is drained, whoever drained it, also after it was started again', async () => {
    const { member } = await join('a');
    member.start(
      () => nothing,
      () => undefined,
    );
    await nextBeat();
    expect(member.mayTake()).toBe(true);
    await table.drain('a', 'ana'); // on another host
    await nextBeat();
    expect(member.mayTake()).toBe(false);
    await member[Symbol.asyncDispose]();
    const { member: again } = await join('a');
    expect(again.mayTake()).toBe(false);
    expect((await again.drain('a', null))?.draining).toBeNull();
    expect([again.mayTake(), await again.drain('nobody', 'ana')]).toEqual([true, null]);
  });

  test('whose name went to another while it slept takes up nothing, until the name is free again', async () => {
    const { member } = await join('a');
    member.start(
      () => nothing,
      () => undefined,
    );
    table.rows = [foreign('a')];
    await nextBeat();
    expect(member.mayTake()).toBe(false);
    table.rows = [foreign('a', { isStopped: true })];
    await nextBeat();
    expect(member.mayTake()).toBe(true);
  });

  test('forgets only those that are gone', async () => {
    table.rows = [foreign('b'), foreign('c', { isStopped: true }), foreign('d', { heardAt: table.now - heardMs - 1 })];
    const { member } = await join('a');
    const answers = [];
    for (const name of ['b', 'c', 'd', 'e']) answers.push(await member.forget(name));
    expect(answers).toEqual(['running', 'forgotten', 'forgotten', 'unknown']);
    expect(member.known().map(({ name }) => name)).toEqual(['b', 'a']);
  });

  test('frees its name when it ends', async () => {
    const { member } = await join('a');
    await member[Symbol.asyncDispose]();
    expect((await join('a')).waited).toEqual([]);
  });
});
