import { describe, expect, test } from 'vitest';
import { earliestOf } from '../../src/pipeline/earliest.ts';
import type { EarliestWorld } from '../../src/pipeline/earliest.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, someFacts, someVersion, uploaded } from './some-facts.ts';
import { someRoom } from './some-room.ts';

const MB = 1e6;
const second = 1_000;
const now = 1_000_000;

/** A line of 10 MB/s (8 MB/s were measured), two slots, and an hour with all of its requests. */
function world(
  other: Omit<Partial<EarliestWorld>, 'pace'> & { pace?: Partial<EarliestWorld['pace']> } = {},
): EarliestWorld {
  const { pace, ...rest } = other;
  return {
    now,
    pace: { bytesPerSecond: 8 * MB, bandwidth: null, mayStart: true, later: [], slots: 2, room: someRoom(), ...pace },
    sent: new Map(),
    fastestMs: () => null,
    mayBePassed: () => false,
    ...rest,
  };
}

const file = (id: string, megabytes: number, other: Partial<Facts> = {}): Facts =>
  someFacts({ id, version: { ...someVersion, size: megabytes * MB }, ...other });

const full = { left: 0, closedMs: 0, limit: 1_000, frees: [[60 * second, 2]] } as const;

describe('the earliest time at which one file can be ready', () => {
  test.each<[string, Facts, EarliestWorld, number, string]>([
    ['is when its bytes are sent, at a quarter more than the measured rate', file('a', 100), world(), 10, 'bytes'],
    ['counts only the bytes that are left', file('a', 100), world({ sent: new Map([['a', 60 * MB]]) }), 4, 'bytes'],
    [
      'counts no bytes that an interrupted upload may have sent',
      file('a', 100, { uploadSession: { protocol: 'tus', offset: 50 * MB, reach: 60 * MB, version: null } }),
      world(),
      4,
      'bytes',
    ],
    ['is now while no rate was measured', file('a', 100), world({ pace: { bytesPerSecond: null } }), 0, 'bytes'],
    ['counts no bytes of an import', file('a', 100, { sourceUrl: 'https://a.example/b' }), world(), 0, 'bytes'],
    ['is when the budget has a request for its record', file('a', 1), world({ pace: { room: full } }), 60, 'requests'],
    ['needs no request once it has its record', file('a', 10, created), world({ pace: { room: full } }), 1, 'bytes'],
    [
      'is not before the uploads of the timetable start',
      file('a', 10),
      world({ pace: { mayStart: false, later: [{ inMs: 300 * second, bandwidth: null, mayStart: true }] } }),
      301,
      'bytes',
    ],
    ['is not before its next try', file('a', 1, { notBefore: now + 90 * second }), world(), 90, 'retry'],
    [
      'adds the shortest processing time seen',
      file('a', 100),
      world({ fastestMs: (size) => (size === 100 * MB ? 120 * second : 0) }),
      130,
      'processing',
    ],
    [
      'counts what was processed already',
      file('a', 100, { ...uploaded, processingSince: now - 50 * second }),
      world({ fastestMs: () => 120 * second }),
      70,
      'processing',
    ],
    [
      'is now once it was processed for longer than others',
      file('a', 100, { ...uploaded, processingSince: now - 500 * second }),
      world({ fastestMs: () => 120 * second }),
      0,
      'processing',
    ],
  ])('%s', (_name, facts, known, seconds, because) => {
    const found = earliestOf([facts], known).get('a');
    expect([(found?.inMs ?? NaN) / second, found?.because]).toEqual([seconds, because]);
  });
});

describe('of files that go by their deadlines', () => {
  const seconds = (due: readonly Facts[], known = world()): number[] =>
    Array.from(earliestOf(due, known).values(), ({ inMs }) => inMs / second);
  const each = [file('a', 100), file('b', 10), file('c', 20), file('d', 40)];

  test('a file waits for all before it but the largest in the other slots', () => {
    expect(seconds(each)).toEqual([10, 1, 3, 7]);
    expect(seconds(each, world({ pace: { slots: 1 } }))).toEqual([10, 11, 13, 17]);
  });

  test('a small file does not wait for big ones, which leave it a slot, and a big one not for small ones', () => {
    expect(seconds([file('big', 1_000), file('big2', 1_000), file('big3', 1_000), file('small', 10)])).toEqual([
      100, 100, 200, 1,
    ]);
  });

  test('one with a record does not wait for those without', () => {
    expect(seconds([file('a', 100), file('b', 100), file('c', 10, created)])).toEqual([10, 10, 1]);
  });

  test('none waits for a file that may be passed over, or once it is being sent', () => {
    expect(seconds(each, world({ mayBePassed: () => true, pace: { slots: 1 } }))).toEqual([10, 1, 2, 4]);
    expect(seconds(each, world({ sent: new Map([['d', 0]]), pace: { slots: 1 } }))).toEqual([10, 11, 13, 4]);
  });

  test('the budget gives its requests in the same order', () => {
    const room = { ...full, frees: [[60 * second, 2] as const, [120 * second, 5] as const] };
    expect(seconds(each, world({ pace: { room } }))).toEqual([60, 60, 120, 120]);
  });
});
