import { expect, test } from 'vitest';
import { createAutoSlots } from '../../../src/pipeline/steps/auto-slots.ts';

/**
 * Looks every half second for a while.
 *
 * @param line bytes per second that a line carries with this number of uploads
 * @param isFull whether the slots are taken, at a second
 * @returns the number of slots at each whole second
 */
function slotsOver(
  seconds: number,
  line: (slots: number, second: number) => number,
  isFull: (second: number) => boolean = () => true,
) {
  let now = 0;
  let sent = 0;
  const slots = createAutoSlots({ elapsed: () => now }, () => sent);
  const seen: number[] = [];
  let current = 4;
  for (; now < seconds * 1_000; now += 500) {
    const second = Math.floor(now / 1_000);
    current = slots.next(isFull(second));
    sent += line(current, second) / 2;
    if (now % 1_000 === 0) seen.push(current);
  }
  return seen;
}

const mostOf = (seen: readonly number[]): number => Math.max(...seen);

test('a line whose connections are slow gets as many slots as there may be, within half a minute', () => {
  const seen = slotsOver(30, (slots) => slots * 100_000);
  expect(seen[0]).toBe(4);
  expect(seen.at(-1)).toBe(16);
});

test('a line that four connections fill keeps four slots, except for a short trial now and then', () => {
  const seen = slotsOver(600, () => 1_000_000);
  expect(mostOf(seen)).toBe(6);
  expect(seen.filter((slots) => slots > 4).length).toBeLessThan(60);
});

test('the number stays where the rate stops growing', () => {
  const seen = slotsOver(60, (slots) => Math.min(slots, 9) * 100_000);
  expect(seen.at(-1)).toBe(9);
});

test('the number falls again when fewer connections are as fast', () => {
  const seen = slotsOver(900, (slots, second) => (second < 60 ? slots * 100_000 : 400_000));
  expect(seen[59]).toBe(16);
  expect(seen.at(-1)).toBeLessThanOrEqual(6);
});

test('slots that are not taken show nothing', () => {
  expect(
    mostOf(
      slotsOver(
        600,
        (slots) => slots * 100_000,
        () => false,
      ),
    ),
  ).toBe(4);
});

test('a second without a waiting file does not count towards the rate', () => {
  // The last file of a burst would look like a slower line.
  const seen = slotsOver(
    60,
    (slots, second) => (second % 10 < 8 ? slots * 100_000 : 0),
    (second) => second % 10 < 8,
  );
  expect(seen.at(-1)).toBe(16);
});

test('a line that stands still is no reason for more slots', () => {
  const seen = slotsOver(600, (_, second) => (second < 30 ? 1_000_000 : 0));
  expect(seen.at(-1)).toBe(4);
});
