import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, isCounted, suspensionProbeMs } from '../../../src/pipeline/file/backoff.ts';
import type { FailureKind } from '../../../src/pipeline/file/failure.ts';
import { failure } from '../some-facts.ts';

const policy = { attempts: 12, firstMs: 1_000, maxMs: 900_000 };

describe('the backoff', () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [5, 16_000],
    [10, 512_000],
    [11, 900_000],
    [1_000, 900_000],
  ])('after failure %i lies anywhere below %i ms', (attempts, ceiling) => {
    expect(backoffMs(attempts, failure('transient'), policy, 0)).toBe(1);
    expect(backoffMs(attempts, failure('transient'), policy, 0.5)).toBe(ceiling / 2);
    expect(backoffMs(attempts, failure('transient'), policy, 0.999_999_9)).toBeLessThanOrEqual(ceiling);
  });

  test.each(['offline', 'throttled'] as const)('of a file that is %s is 2 to 20 s, however often', (kind) => {
    expect(backoffMs(1, failure(kind), policy, 0)).toBe(2_000);
    expect(backoffMs(50, failure(kind), policy, 0.999_999)).toBeCloseTo(20_000, -1);
  });

  test('is hardly longer than the 3 s that the service asked for', () => {
    expect(backoffMs(1, failure('throttled', { retryAfterMs: 3_000 }), policy, 0)).toBe(3_000);
    expect(backoffMs(1, failure('throttled', { retryAfterMs: 3_000 }), policy, 0.999)).toBeLessThan(5_000);
  });

  test('of a suspension is five minutes', () => {
    expect(backoffMs(1, failure('suspended'), policy, 0)).toBe(suspensionProbeMs);
  });

  test.each(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])('of a full disk (%s) is half a minute', (code) => {
    expect(backoffMs(1, { ...failure('suspended'), code }, policy, 0)).toBe(30_000);
  });

  test.each(['LEDGER_AWAY', 'SQLITE_BUSY'])(
    'is tried again within 20 s after %s, which resolves on its own',
    (code) => {
      const away = { ...failure('suspended'), code };
      expect([0, 1].map((random) => backoffMs(1, away, policy, random))).toEqual([2_000, 20_000]);
    },
  );

  test('is never shorter than the other side asks for, and always at least a millisecond', () => {
    const kinds: readonly FailureKind[] = ['transient', 'offline', 'throttled', 'suspended', 'address dead', 'bug'];
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.nat(5_000_000),
        fc.integer({ min: 0, max: 100 }),
        random,
        (kind, asked, n, r) => {
          const ms = backoffMs(n, failure(kind, { retryAfterMs: asked }), policy, r);
          expect(ms).toBeGreaterThanOrEqual(Math.max(1, asked));
          expect(ms).toBeLessThanOrEqual(Math.max(asked + 2_000, policy.maxMs, suspensionProbeMs));
        },
      ),
    );
  });

  test.each([
    ['transient', true],
    ['address dead', true],
    ['bug', true],
    ['offline', false],
    ['throttled', false],
    ['suspended', false],
  ] as const)('%s uses up an attempt: %s', (kind, isIt) => {
    expect(isCounted(failure(kind))).toBe(isIt);
  });
});
