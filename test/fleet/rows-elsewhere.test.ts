import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followRowsElsewhere } from '../../src/fleet/sharing.ts';
import type { Passage } from '../../src/ledger/history.ts';
import type { DropcastEvent } from '../../src/pipeline/events.ts';
import type { RowsWanted } from '../../src/pipeline/file/row-groups.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { FakeFleet, noon, someHost } from './fake-fleet.ts';

beforeEach(() => void vi.useFakeTimers({ now: noon }));
afterEach(() => void vi.useRealTimers());

/** The history of a fleet, and who wrote which row last. */
function open() {
  const fleet = new FakeFleet(someHost('a'), someHost('b'));
  const lines: Passage[] = [];
  const told: unknown[] = [];
  let asked = 0;
  const ledger = {
    history: async () => [],
    lastPassage: async () => lines.at(-1)?.seq ?? 0,
    passages: async (after: number, _states: readonly string[], limit: number) => {
      asked += 1;
      return lines.filter(({ seq }) => seq > after).slice(0, limit);
    },
    lastStates: async (ids: readonly string[], _states: readonly string[], until: number) =>
      new Map(lines.filter(({ id, seq }) => ids.includes(id) && seq <= until).map((line) => [line.id, line])),
    doneAfter: async () => [],
    rows: async ({ where }: RowsWanted<'any'>) => (where?.ids ?? []).map((id) => someFacts({ id })),
  };
  const emit = (event: DropcastEvent): void => {
    if (event.type === 'elsewhere') told.push([event.facts.id, event.from, event.passed.map(({ state }) => state)]);
  };
  const follower = followRowsElsewhere({ ledger, fleet, events: { emit }, logger: silentLogger });
  const write = (host: string, id: string, state: string): void => {
    lines.push({ seq: (lines.at(-1)?.seq ?? 0) + 1, id, at: Date.now(), state, note: null });
    fleet.writers.set(id, host);
  };
  const look = async (): Promise<readonly unknown[]> => {
    follower.look();
    await vi.advanceTimersByTimeAsync(1_000);
    return told.splice(0);
  };
  return { fleet, follower, lines, write, look, asked: () => asked };
}

test('writes of other hosts are reported once, with the state before; writes of this host are not', async () => {
  const { follower, write, look } = open();
  write('b', 'f_1', 'queued');
  await follower.start();
  expect(await look()).toEqual([]);
  write('b', 'f_1', 'awaiting upload');
  write('b', 'f_1', 'processing');
  write('a', 'f_2', 'queued');
  write('b', 'f_3', 'queued');
  expect(await look()).toEqual([
    ['f_1', 'queued', ['awaiting upload', 'processing']],
    ['f_3', null, ['queued']],
  ]);
  expect(await look()).toEqual([]);
});

test('many hints cost one look in a second', async () => {
  const { follower, write, look, asked } = open();
  await follower.start();
  for (let n = 0; n < 100; n += 1) {
    write('b', `f_${n}`, 'queued');
    follower.look();
  }
  expect((await look()).length).toBe(100);
  expect(asked()).toBe(1);
});

test('more lines than one read returns are still reported', async () => {
  const { follower, write, look } = open();
  await follower.start();
  for (let n = 0; n < 2_500; n += 1) write('b', `f_${n}`, 'queued');
  expect((await look()).length).toBe(2_500);
});

test('numbers that a database reuses after it lost its last lines are reported', async () => {
  const { follower, lines, write, look } = open();
  for (const id of ['f_1', 'f_2', 'f_3']) write('b', id, 'queued');
  await follower.start();
  lines.splice(1);
  expect(await look()).toEqual([]);
  write('b', 'f_4', 'queued');
  expect(await look()).toEqual([['f_4', null, ['queued']]]);
});

test('no query is sent while the database is away, and writes from that time are reported afterwards', async () => {
  const { fleet, follower, write, look, asked } = open();
  await follower.start();
  fleet.away = noon;
  write('b', 'f_1', 'queued');
  expect(await look()).toEqual([]);
  expect(asked()).toBe(0);
  fleet.away = null;
  expect(await look()).toEqual([['f_1', null, ['queued']]]);
});
