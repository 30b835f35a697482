import { expect, test } from 'vitest';
import type { Pause } from '../../../src/pipeline/events.ts';
import { pauseReporter, waitOf, whyAway } from '../../../src/cli/run/watch-progress.ts';
import { failure, someFacts, uploaded } from '../../pipeline/some-facts.ts';

test('a pause is reported when it begins, when its reason changes, and when it comes back', () => {
  const lines: string[] = [];
  const report = pauseReporter((text) => lines.push(text));
  const unreachable = { why: 'ECONNREFUSED' };
  const refused = { why: 'the key is\nrefused' };
  for (const pause of [null, unreachable, unreachable, refused, refused, null, null, refused]) report(pause);
  const escaped = expect.stringContaining(String.raw`the key is\nrefused`);
  expect(lines).toEqual([expect.stringContaining('ECONNREFUSED'), escaped, escaped]);
});

const quiet = { uploading: 0, queued: 1, processing: 0, awaitingPublish: 0 };
const paused =
  (kind: 'offline' | 'suspended', sinceMs: number, holds: Pause['holds'] = 'everything') =>
  () => {
    const since = Date.now() - sinceMs;
    return { kind, holds, why: 'it is away', code: 'away', since, probes: 0, nextProbeAt: 0 };
  };
const inMinutes = (n: number) => (): number => Date.now() + n * 60_000;
const never = (): null => null;

test.for([
  { name: 'nothing', pause: never, createsWaitUntil: never, busy: quiet, is: null },
  { name: 'a refused key', pause: paused('suspended', 0), createsWaitUntil: never, busy: quiet, is: true },
  { name: 'a short outage', pause: paused('offline', 60_000), createsWaitUntil: never, busy: quiet, is: false },
  { name: 'a long outage', pause: paused('offline', 600_000), createsWaitUntil: never, busy: quiet, is: true },
  {
    name: 'an upload host',
    pause: paused('offline', 600_000, 'uploads'),
    createsWaitUntil: never,
    busy: quiet,
    is: true,
  },
  {
    name: 'an upload host while others work',
    pause: paused('offline', 600_000, 'uploads'),
    createsWaitUntil: never,
    busy: { ...quiet, uploading: 1 },
    is: false,
  },
  { name: 'creates for long', pause: never, createsWaitUntil: inMinutes(50), busy: quiet, is: true },
  { name: 'creates a moment', pause: never, createsWaitUntil: inMinutes(1), busy: quiet, is: false },
  {
    name: 'creates, with uploads',
    pause: never,
    createsWaitUntil: inMinutes(50),
    busy: { ...quiet, uploading: 1 },
    is: false,
  },
] as const)('waiting for $name: stuck: $is', ({ pause, createsWaitUntil, busy, is }) => {
  const wait = waitOf({ pause, createsWaitUntil, startAt: never }, busy, 120_000);
  expect(wait === null ? null : wait.isStuck).toBe(is);
});

test.for([
  { startAt: inMinutes(600), busy: quiet, is: true },
  { startAt: inMinutes(1), busy: quiet, is: false },
  { startAt: inMinutes(600), busy: { ...quiet, uploading: 1 }, is: false },
  { startAt: inMinutes(600), busy: { ...quiet, queued: 0 }, is: null },
])('waiting for the time of day at which uploads start: stuck: $is', ({ startAt, busy, is }) => {
  const wait = waitOf({ pause: never, createsWaitUntil: never, startAt }, busy, 120_000);
  expect(wait === null ? null : wait.isStuck).toBe(is);
  if (wait !== null) expect(wait.why).toMatch(/^uploads start at .*\d\d:\d\d$/);
});

const waiting = someFacts({ notBefore: 1, lastFailure: failure('suspended', { code: 'folder_away' }) });
const frozen = { path: '/inbox', state: 'frozen', why: 'it does not exist' };

test.for([
  { name: 'all of a frozen folder', active: [waiting, waiting], folders: [frozen], is: true },
  { name: 'nothing', active: [], folders: [frozen], is: false },
  { name: 'all of a folder that is back', active: [waiting], folders: [{ ...frozen, state: 'watching' }], is: false },
  { name: 'one of another folder', active: [waiting, { ...waiting, folder: '/b' }], folders: [frozen], is: false },
  { name: 'one that is processed', active: [waiting, someFacts(uploaded)], folders: [frozen], is: false },
  { name: 'one that was not tried yet', active: [someFacts(), waiting], folders: [frozen], is: false },
])('a run can do nothing more when what is left is $name: $is', ({ active, folders, is }) => {
  expect(whyAway(active, folders)).toBe(is ? '/inbox was left alone: it does not exist' : null);
});
