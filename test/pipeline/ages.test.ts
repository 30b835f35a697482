import { describe, expect, test } from 'vitest';
import { createAges } from '../../src/pipeline/ages.ts';
import { someFacts, uploaded } from './some-facts.ts';
import { TestClock } from './test-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('the age of a file in processing', () => {
  test.each([10 * day, -10 * day, hour, -hour])('is not changed by a clock that is set by %i ms', (jump) => {
    const clock = new TestClock(100 * day);
    const ages = createAges(clock, () => 12 * hour);
    const file = someFacts({ ...uploaded, processingSince: clock.now() });
    expect(ages.of(file)).toBe(0);
    clock.advance(hour);
    clock.set(clock.now() + jump);
    clock.advance(hour);
    expect(ages.of(file)).toBe(2 * hour);
  });

  test.each([
    ['an hour ago', hour, hour],
    ['ten days ago, or the clock was set forward', 10 * day, 12 * hour],
    ['in the future, because the clock was set back', -10 * day, 0],
  ])('that began %s before a restart counts as far as it is plausible', (_name, before, expected) => {
    const clock = new TestClock(100 * day);
    const ages = createAges(clock, () => 12 * hour);
    expect(ages.of(someFacts({ ...uploaded, processingSince: clock.now() - before }))).toBe(expected);
  });

  test('begins anew with a retry, and is forgotten with the file', () => {
    const clock = new TestClock(100 * day);
    const ages = createAges(clock, () => 12 * hour);
    const file = someFacts({ ...uploaded, processingSince: clock.now() });
    expect(ages.of(file)).toBe(0);
    clock.advance(hour);
    expect(ages.of({ ...file, processingSince: clock.now() })).toBe(0);
    clock.advance(hour);
    ages.keepOnly([]);
    expect(ages.of(file)).toBe(2 * hour);
  });
});
