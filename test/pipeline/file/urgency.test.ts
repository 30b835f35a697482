import { describe, expect, test } from 'vitest';
import { deadlineFrom, urgencyOf } from '../../../src/pipeline/file/urgency.ts';
import { ready, someFacts, somePlan } from '../some-facts.ts';

const at = (text: string): number => Date.parse(text);
const evening = { minutes: 18 * 60 + 30, zone: 'Europe/Berlin' };

describe('a deadline', () => {
  test.each([
    ['half an hour after the arrival', { afterMs: 1_800_000 }, '2026-11-22T10:00Z', '2026-11-22T10:30Z'],
    ['the time of day that comes next, in its zone', evening, '2026-11-22T10:00Z', '2026-11-22T17:30Z'],
    ['that of tomorrow once it is over', evening, '2026-11-22T17:30Z', '2026-11-23T17:30Z'],
    ['an hour earlier by UTC in summer', evening, '2026-07-22T10:00Z', '2026-07-22T16:30Z'],
    [
      'the first moment after a time that daylight saving skips',
      { minutes: 2 * 60 + 30, zone: 'Europe/Berlin' },
      '2026-03-28T22:00Z',
      '2026-03-29T01:00Z',
    ],
  ])('is %s', (_name, readyBy, arrived, expected) => {
    expect(deadlineFrom(readyBy, at(arrived))).toBe(at(expected));
  });
});

// With TZ="" the machine's zone has no name that Intl takes: no file could be taken in.
test.each(['Etc/Unknown', 'No/Such_Zone'])('a time of day in the zone %s is one of the machine', (zone) => {
  const here = new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  const arrived = at('2026-11-22T10:00Z');
  expect(deadlineFrom({ ...evening, zone }, arrived)).toBe(deadlineFrom({ ...evening, zone: here }, arrived));
});

describe('the urgency of a file', () => {
  const due = someFacts({ plan: { ...somePlan, readyBy: { afterMs: 500 } }, discoveredAt: 1_000 });

  test.each([
    ['its deadline', due, 1_500],
    ['below every deadline once it was put first', { ...due, firstAt: 2_000 }, -2_000],
    ['none without a deadline', someFacts(), null],
    ['none without a plan', someFacts({ plan: null }), null],
    ['none once its video is ready', { ...due, ...ready }, null],
    ['none once it is over', { ...due, firstAt: 2_000, end: 'failed' as const }, null],
  ])('is %s', (_name, facts, expected) => {
    expect(urgencyOf(facts)).toBe(expected);
  });
});
