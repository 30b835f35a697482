import { describe, expect, test } from 'vitest';
import { EventGaps } from '../../src/watch/event-gaps.ts';
import { FakeClock } from './fake-clock.ts';

const leastMs = 15_000;
const readable = (): boolean => false;

function open(): { readonly clock: FakeClock; readonly gaps: EventGaps } {
  const clock = new FakeClock();
  const gaps = new EventGaps({ clock, leastMs });
  gaps.opened();
  return { clock, gaps };
}

/** Minutes from one opening to the next, when each fails. */
function waits(count: number): number[] {
  const { clock, gaps } = open();
  return Array.from({ length: count }, () => {
    gaps.failed('ENOSPC', null);
    gaps.caughtUp();
    const openedAtMs = clock.now();
    while (!gaps.isWorthOpening(readable)) clock.advance(5_000);
    gaps.opened();
    return (clock.now() - openedAtMs) / 60_000;
  });
}

test.for([
  ['ENOSPC', null, /inotify watches is reached \(ENOSPC\): raise it .*; the folder is scanned more often instead$/],
  ['EMFILE', null, /inotify instances or open files is reached \(EMFILE\): raise it/],
  [
    'EACCES',
    'a/b',
    /^the directory "a\/b" may not be watched \(EACCES\): the user of dropcast needs the right to read/,
  ],
  ['EPERM', '', /^the folder may not be watched \(EPERM\)/],
  ['EACCES', null, /^a directory may not be watched \(EACCES\)/],
] as const)('%s at %s is told', ([code, path, words]) => {
  const { gaps } = open();
  expect(gaps.failed(code, path)).toBe(true);
  expect(gaps.why).toMatch(words);
});

test('what a scan finds out by itself is no gap', () => {
  const { gaps } = open();
  expect(gaps.failed('ENOENT', 'a')).toBe(false);
  expect(gaps.why).toBeNull();
});

describe('the watches', () => {
  test('are worth opening anew once the named directory can be read', () => {
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

  test('that are complete are not opened anew', () => {
    const { clock, gaps } = open();
    gaps.caughtUp();
    clock.advance(3_600_000);
    expect(gaps.isWorthOpening(readable)).toBe(false);
  });

  test('that fail again and again are opened less and less often, but every ten minutes', () => {
    expect(waits(8)).toEqual([0.25, 0.5, 1, 2, 4, 8, 10, 10]);
  });

  test('that fail after a long time are opened soon', () => {
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
