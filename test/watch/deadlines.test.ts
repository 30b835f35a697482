import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines } from '../../src/watch/deadlines.ts';
import { FakeClock } from './fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const fired: [string, number][] = [];
  const deadlines = new Deadlines(clock, (key) => fired.push([key, clock.elapsed()]));
  return { clock, fired, deadlines };
}

test('keys come due in the order of their deadlines, each at its time', () => {
  const { clock, fired, deadlines } = setUp();
  deadlines.set('late', 300);
  deadlines.set('early', 100);
  deadlines.set('middle', 200);
  clock.advance(1000);
  expect(fired).toEqual([
    ['early', 100],
    ['middle', 200],
    ['late', 300],
  ]);
});

test('a deadline that is set again is moved, not doubled', () => {
  const { clock, fired, deadlines } = setUp();
  deadlines.set('a', 100);
  deadlines.set('a', 500);
  clock.advance(499);
  expect(fired).toEqual([]);
  clock.advance(1);
  expect(fired).toEqual([['a', 500]]);
});

test('hasten brings a deadline forward and never puts it off', () => {
  const { clock, fired, deadlines } = setUp();
  deadlines.set('a', 500);
  deadlines.hasten('a', 900);
  deadlines.hasten('a', 200);
  clock.advance(1000);
  expect(fired).toEqual([['a', 200]]);
});

test('a deleted deadline does not come due', () => {
  const { clock, fired, deadlines } = setUp();
  deadlines.set('a', 100);
  deadlines.delete('a');
  expect(deadlines.has('a')).toBe(false);
  clock.advance(1000);
  expect(fired).toEqual([]);
});

test('ten thousand deadlines share one timer', () => {
  const { clock, deadlines } = setUp();
  for (let index = 0; index < 10_000; index += 1) deadlines.set(`file ${index}`, 1000 + ((index * 7919) % 10_000));
  expect(clock.timers).toBe(1);
  deadlines.close();
  deadlines.set('too late', 1000);
  expect(clock.timers).toBe(0);
});

test('a receiver may set the same key again', () => {
  const clock = new FakeClock();
  const times: number[] = [];
  const deadlines: Deadlines = new Deadlines(clock, (key) => {
    times.push(clock.elapsed());
    if (times.length < 3) deadlines.set(key, clock.elapsed() + 10);
  });
  deadlines.set('a', 10);
  clock.advance(1000);
  expect(times).toEqual([10, 20, 30]);
});

test('keys are handed over as far as there is room, the rest in order later', () => {
  const clock = new FakeClock();
  const taken: string[] = [];
  let room = 2;
  const deadlines = new Deadlines(
    clock,
    (key) => {
      taken.push(key);
      room -= 1;
    },
    () => room,
  );
  for (const key of ['a', 'b', 'c', 'd']) deadlines.set(key, 10);
  deadlines.set('later', 500);
  clock.advance(100);
  expect(taken).toEqual(['a', 'b']);
  expect(clock.timers).toBe(0);
  room = 1;
  deadlines.resume();
  expect(taken).toHaveLength(3);
  room = 5;
  deadlines.resume();
  expect(taken.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  clock.advance(400);
  expect(taken.at(-1)).toBe('later');
});

test('a deadline beyond the longest timer comes due on time', () => {
  const { clock, fired, deadlines } = setUp();
  deadlines.set('a', 30 * 86_400_000);
  clock.advance(30 * 86_400_000 - 1);
  expect(fired).toEqual([]);
  clock.advance(1);
  expect(fired).toHaveLength(1);
});

test('whatever is set, moved and deleted, exactly the remaining keys come due, in order and on time', () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 20 }).map(String),
    at: fc.integer({ min: 0, max: 1000 }),
    keep: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const { clock, fired, deadlines } = setUp();
      const expected = new Map<string, number>();
      for (const { key, at, keep } of steps) {
        if (keep) {
          deadlines.set(key, at);
          expected.set(key, at);
        } else {
          deadlines.delete(key);
          expected.delete(key);
        }
      }
      expect(deadlines.size).toBe(expected.size);
      clock.advance(2000);
      expect(new Map(fired)).toEqual(expected);
      expect(fired.map(([, at]) => at)).toEqual([...expected.values()].toSorted((a, b) => a - b));
    }),
  );
});
