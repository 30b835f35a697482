import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { worldOfLedger } from '../../src/daemon/plan/worlds.ts';
import { block, emptyWindow } from '../../src/host/budget-window.ts';
import { budgetOfOneHost } from '../../src/host/budget-store.ts';
import type { BudgetWindow } from '../../src/host/budget-window.ts';
import { createGate } from '../../src/host/gate.ts';
import { roomOf } from '../../src/host/budget-window.ts';
import type { LedgerToRead } from '../../src/daemon/state/ledger-to-read.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { failure, someFacts } from '../pipeline/some-facts.ts';
import { until } from '../support/until.ts';

const now = new Date(2026, 10, 22, 14, 0).getTime();
const limit = 1_000;
const spent: BudgetWindow = { ...emptyWindow, minutes: [[now / 60_000 - 30, 100]], total: 100 };
const refused = block(spent, now, { retryAfterMs: 1_800_000, limit });
const config = {
  stateDir: '/none',
  folders: [],
  service: { requestsPerHour: limit, quota: null },
  uploads: { window: null, bandwidth: { otherwise: null, windows: [] }, concurrency: 4 },
  poll: { intervalMs: 15_000 },
  publish: { quietMs: 10_000, atMostMs: 120_000 },
} as unknown as Config;

const noRows = { id: 'ledger', rows: async () => [], budgetNow: async () => null };

// `Date` alone stands still: the gate sleeps and looks as ever.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

test.for<[string, BudgetWindow, number]>([
  ['no other client uses the key', spent, 900],
  ['others use the key', { ...spent, others: { requests: 600, at: now } }, 300],
  ['the service has just refused', refused, 0],
])('a plan without a daemon has the requests left that a daemon has: %s', async ([, window, left]) => {
  const clock = { now: () => now, elapsed: () => 0 };
  await using gate = createGate({
    store: budgetOfOneHost({ load: async () => window, save: async () => {} }, clock, () => 0),
    limit,
    clock,
  });
  await until('the gate has its window', () => gate.snapshot().used > 0);
  const ledger = { ...noRows, budgetNow: async () => ({ window, now }) } as unknown as LedgerToRead;
  const { pace } = await worldOfLedger(config, ledger);
  expect(pace.room.left).toBe(left);
  expect(pace.room).toEqual(roomOf(gate.snapshot()));
});

test('a plan without a daemon counts what was created since the quota was reset', async () => {
  const resets = { minutes: 9 * 60, zone: 'UTC' };
  const quota = { videos: 10, bytes: 1_000, minutes: 60, per: 'day', resets };
  const asked: number[] = [];
  const ledger = {
    ...noRows,
    createdSince: async (since: number) => {
      asked.push(since);
      return { videos: 4, bytes: 1_200 };
    },
    note: async () => ({ since: asked[0], minutes: 20 }),
  } as unknown as LedgerToRead;
  const { pace } = await worldOfLedger({ ...config, service: { ...config.service, quota } } as Config, ledger);
  expect(asked.map((since) => new Date(since).toISOString().slice(11))).toEqual(['09:00:00.000Z']);
  expect(pace.quota).toMatchObject({
    left: { videos: 6, bytes: 0, minutes: 40 },
    minutesPerVideo: 5,
    periodMs: 86_400_000,
  });
});

test('a plan without a daemon knows that the service refused every new video, and when it is tried next', async () => {
  const account = { trouble: 'quota', since: now - 60_000 } as const;
  const lastFailure = failure('suspended', { code: 'quota_reached', message: 'it answered 403', account });
  const refused = someFacts({ lastFailure, notBefore: now + 3_600_000 });
  const ofChannel = someFacts({
    lastFailure: { ...lastFailure, account: { ...account, channel: 'ch_a' } },
    notBefore: now,
  });
  const world = (rows: readonly Facts[]) =>
    worldOfLedger(config, { ...noRows, rows: async () => rows } as unknown as LedgerToRead);
  expect((await world([ofChannel, refused])).refusal).toMatchObject({
    why: 'it answered 403',
    trouble: 'quota',
    since: now - 60_000,
    nextProbeAt: now + 3_600_000,
  });
  expect((await world([ofChannel])).refusal).toBeNull();
});
