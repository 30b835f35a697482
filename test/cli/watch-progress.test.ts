import { expect, test } from 'vitest';
import type { Pause } from '../../src/pipeline/events.ts';
import { pauseReporter, waitOf } from '../../src/cli/watch-progress.ts';

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
