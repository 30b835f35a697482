import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  afterProbe,
  afterRelease,
  afterSuccess,
  afterWrite,
  closed,
  createBreaker,
  folderAway,
} from '../../src/pipeline/pause.ts';
import type { BreakerState } from '../../src/pipeline/pause.ts';
import type { Pause } from '../../src/pipeline/events.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { recordingEvents } from './held-rows.ts';
import { failure } from './some-facts.ts';
import { TestClock } from './test-clock.ts';

/** The breaker after these failures, one a second. */
function after(failures: readonly Failure[], from: BreakerState = closed): BreakerState {
  return failures.reduce((state, why, index) => afterFailure(state, why, index * 1_000), from);
}

function pauseOf(state: BreakerState): Pause {
  if (state.pause === null) throw new Error('the breaker is closed');
  return state.pause;
}

describe('the breaker opens', () => {
  test.each(['suspended', 'offline'] as const)('at the first failure that is %s', (kind) => {
    expect(pauseOf(after([failure(kind)]))).toMatchObject({ kind, why: `it was ${kind}`, since: 0 });
  });
});

test.each(['EMFILE', 'ENFILE'])(
  'too many open files (%s) pause everything for seconds, not for five minutes',
  (code) => {
    expect(pauseOf(after([failure('suspended', { code })])).nextProbeAt).toBe(1_000);
    expect(pauseOf(after([failure('suspended', { code: 'EROFS' })])).nextProbeAt).toBe(300_000);
  },
);

describe('a write to the ledger', () => {
  const full = failure('suspended', { code: 'SQLITE_FULL' });

  test('has the service asked soon when a full disk was the reason, later each time', () => {
    const first = after([full]);
    expect(pauseOf(afterWrite(first, 1_000)).nextProbeAt).toBe(10_000);
    const second = after([full], afterRelease(pauseOf(first)));
    expect(pauseOf(afterWrite(second, 1_000)).nextProbeAt).toBe(20_000);
    expect(pauseOf(afterWrite(first, 29_000)).nextProbeAt).toBe(29_000);
    expect(afterWrite(first, 40_000)).toEqual(first);
  });

  test('is tried within half a minute on a full disk, and again each half minute, as the message says', () => {
    const first = pauseOf(after([full]));
    expect(first.nextProbeAt).toBe(30_000);
    expect(pauseOf(afterProbe(first, full, 30_000)).nextProbeAt).toBe(60_000);
  });

  test('says nothing about another reason', () => {
    const refused = after([failure('suspended', { code: 'unauthorized' })]);
    expect(afterWrite(refused, 1_000)).toEqual(refused);
    expect(afterWrite(closed, 1_000)).toEqual(closed);
  });
});

test.each([
  ['away', 'LEDGER_AWAY'],
  ['busy', 'SQLITE_BUSY'],
])('a ledger that is %s is tried again within seconds, later each time', (_, code) => {
  const away = failure('suspended', { code });
  const paused = after([away]);
  expect(pauseOf(paused)).toMatchObject({ kind: 'suspended', nextProbeAt: 1_000 });
  const asked = afterProbe(pauseOf(paused), away, 1_000);
  expect(pauseOf(asked)).toMatchObject({ kind: 'suspended', nextProbeAt: 3_000 });
  expect(pauseOf(afterProbe(pauseOf(asked), away, 3_000)).nextProbeAt).toBe(7_000);
});

describe('the breaker stays closed', () => {
  test.each([
    failure('permanent'),
    failure('throttled'),
    failure('transient', { status: 500 }),
    failure('suspended', { code: folderAway }),
  ])('at $kind $code: that is not an outage', (why) => {
    expect(after([why, why, why, why, why, why])).toEqual(closed);
  });
});

describe('a pause', () => {
  test('of a suspended account is probed every five minutes', () => {
    const state = after([failure('suspended')]);
    expect(pauseOf(state).nextProbeAt).toBe(300_000);
    expect(pauseOf(afterProbe(pauseOf(state), failure('suspended'), 300_000)).nextProbeAt).toBe(600_000);
  });

  test('of an outage is probed after 1, 2, 4 … s, at most every minute', () => {
    let state = after([failure('offline')]);
    const waits = [];
    for (let probe = 0; probe < 9; probe += 1) {
      waits.push(pauseOf(state).nextProbeAt);
      state = afterProbe(pauseOf(state), failure('offline'), 0);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('is not probed before the time the service asks for', () => {
    const state = after([failure('offline')]);
    const asked = failure('transient', { status: 503, retryAfterMs: 90_000 });
    expect(pauseOf(afterProbe(pauseOf(state), asked, 0)).nextProbeAt).toBe(90_000);
  });

  test('tells what the last probe found, and since when it lasts', () => {
    const state = afterProbe(pauseOf(after([failure('offline')])), failure('suspended'), 5_000);
    expect(pauseOf(state)).toMatchObject({ kind: 'suspended', why: 'it was suspended', since: 0 });
  });

  test('is not changed by failures and successes of steps that were under way', () => {
    const state = after([failure('offline')]);
    expect(afterFailure(state, failure('suspended'), 9)).toBe(state);
    expect(afterSuccess(state)).toBe(state);
  });

  // The API is well, but the host of the uploads is away: each cycle of pause and probe costs requests.
  test('that comes back at once is probed less and less often', () => {
    let state: BreakerState = closed;
    const waits = [];
    for (let cycle = 0; cycle < 8; cycle += 1) {
      state = afterFailure(state, failure('offline'), 0);
      waits.push(pauseOf(state).nextProbeAt);
      state = afterRelease(pauseOf(state));
      expect(state.pause).toBeNull();
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('starts over after a success', () => {
    const released = afterRelease(pauseOf(after([failure('offline')])));
    expect(afterSuccess(released)).toEqual(closed);
  });
});

test('a create request in doubt stays in doubt when the service then answers 404 to everything', async () => {
  const suspended = failure('suspended', { code: 'not_found' });
  const library = { probe: async () => ({ ok: false as const, failure: suspended }) };
  const breaker = createBreaker({ library, clock: new TestClock(), events: recordingEvents() });
  const inDoubt = failure('transient', { status: 500, inDoubt: true });
  expect(await breaker.judge(inDoubt, AbortSignal.timeout(60_000))).toEqual({ ...suspended, inDoubt: true });
});
