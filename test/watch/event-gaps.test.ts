import { describe, expect, test } from 'vitest';
import { EventGaps } from '../../src/watch/hints.ts';
import { FakeClock } from './fake-clock.ts';

const leastMs = 15_000;
const readable = (): boolean => false;

function open(): { readonly clock: FakeClock; readonly gaps: EventGaps } {
  const clock = new FakeClock();
  const gaps = new EventGaps({
    clock,
    leastMs,
    folder: { path: '/in' },
    deafBecause: () => null,
    directories: () => 1_234,
  });
  gaps.opened();
  return { clock, gaps };
}

/** Minutes from one opening to the next, when each fails. */
function waits(count: number): number[] {
  const { clock, gaps } = open();
  return Array.from({ length: count }, () => {
    gaps.failed('ENOSPC', null);
    gaps.caughtUp();
    const openedAtMs = clock.elapsed();
    while (!gaps.isWorthOpening(readable)) clock.advance(5_000);
    gaps.opened();
    return (clock.elapsed() - openedAtMs) / 60_000;
  });
}

test.for([
  ['ENOSPC', null, /inotify watches .*ENOSPC.*1,234 directories.*fs\.inotify\.max_user_watches=\d+`.*scanning/],
  ['EMFILE', null, /inotify instances .*EMFILE.*fs\.inotify\.max_user_instances=\d+`/],
  ['EACCES', 'a/b', /"a\/b".*EACCES/],
  ['EPERM', '', /the folder.*EPERM/],
  ['EACCES', null, /a directory.*EACCES/],
] as const)('%s at %s is explained', ([code, path, words]) => {
  const { gaps } = open();
  expect(gaps.failed(code, path)).toBe(true);
  expect(gaps.why).toMatch(words);
});

test('what a scan finds out itself is not a gap', () => {
  const { gaps } = open();
  expect(gaps.failed('ENOENT', 'a')).toBe(false);
  expect(gaps.why).toBeNull();
});

describe('the watches', () => {
  test('are worth reopening once the named directory can be read', () => {
    const { clock, gaps } = open();
    gaps.failed('EACCES', 'a');
    gaps.failed('EACCES', 'b');
    gaps.caughtUp();
    clock.advance(leastMs);
    expect(gaps.isWorthOpening((path) => path === 'a')).toBe(false);
    expect(gaps.isWorthOpening((path) => path === 'b')).toBe(true);
    gaps.opened();
    expect(gaps.why).toContain('"a"');
    gaps.failed('EACCES', 'b');
    gaps.caughtUp();
    expect(gaps.why).toContain('"b"');
    gaps.opened();
    gaps.caughtUp();
    expect(gaps.why).toBeNull();
  });

  test('that are complete are not reopened', () => {
    const { clock, gaps } = open();
    gaps.caughtUp();
    clock.advance(3_600_000);
    expect(gaps.isWorthOpening(readable)).toBe(false);
  });

  test('that fail again and again are reopened less and less often, down to every ten minutes', () => {
    expect(waits(8)).toEqual([0.25, 0.5, 1, 2, 4, 8, 10, 10]);
  });

  test('that fail after a long time are reopened soon', () => {
    const { clock, gaps } = open();
    for (let count = 0; count < 8; count += 1) gaps.opened();
    gaps.caughtUp();
    clock.advance(3_600_000);
    gaps.failed('EMFILE', null);
    expect(gaps.isWorthOpening(readable)).toBe(true);
    gaps.opened();
    clock.advance(leastMs);
    expect(gaps.isWorthOpening(readable)).toBe(true);
  });
});
