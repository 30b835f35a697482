import { expect, test } from 'vitest';
import type { Pause } from '../../../src/pipeline/events.ts';
import { isStuck, waitReporter, whyAway } from '../../../src/cli/run/watch-progress.ts';
import { mainWait } from '../../../src/view/waits.ts';
import { stagesWith } from '../../view/picture/some-picture.ts';
import { failure, someFacts, uploaded } from '../../pipeline/some-facts.ts';
import { waitsAt } from '../../view/moments.ts';
import type { Moment } from '../../view/moments.ts';

test('a wait is reported when it begins, when its reason changes, and when it comes back', () => {
  const lines: string[] = [];
  const report = waitReporter((text) => lines.push(text));
  const pause = (of: Partial<Pause>) => waitsAt({ pause: of })[0] ?? null;
  const unreachable = { why: 'ECONNREFUSED' };
  const later = { ...unreachable, nextProbeAt: 9 };
  const refused = { why: 'the key is\nrefused' };
  for (const of of [null, unreachable, later, refused, refused, null, null, refused]) report(of && pause(of));
  const escaped = expect.stringContaining(String.raw`the key is\nrefused`);
  expect(lines).toEqual([expect.stringContaining('ECONNREFUSED'), escaped, escaped]);
});

const quiet = { queued: 1 };
const sending = { queued: 1, uploading: 1 };
const inMinutes = (n: number): number => Date.now() + n * 60_000;
const since = inMinutes;

test.for<[string, Moment, { queued: number; uploading?: number }, boolean | null]>([
  ['nothing', {}, quiet, null],
  ['a refused key', { pause: { kind: 'suspended', code: 'unauthorized', since: since(0) } }, quiet, true],
  ['a refused account', { pause: { kind: 'suspended', code: 'forbidden', since: since(0) } }, sending, true],
  ['a full disk', { pause: { kind: 'suspended', code: 'ENOSPC', since: since(0) } }, quiet, true],
  ['a short outage', { pause: { since: since(-1) } }, quiet, false],
  ['a long outage', { pause: { since: since(-10) } }, quiet, true],
  ['a long outage while others work', { pause: { since: since(-10) } }, sending, true],
  ['an upload host', { pause: { holds: 'uploads', since: since(-10) } }, quiet, true],
  ['an upload host while others work', { pause: { holds: 'uploads', since: since(-10) } }, sending, false],
  ['creates for long', { createsUntil: inMinutes(50) }, quiet, true],
  ['creates a moment', { createsUntil: inMinutes(1) }, quiet, false],
  ['creates, with uploads', { createsUntil: inMinutes(50) }, sending, false],
  ['the time of day at which uploads start', { startAt: inMinutes(600) }, quiet, true],
  ['uploads that start soon', { startAt: inMinutes(1) }, quiet, false],
  ['uploads that start later, with others under way', { startAt: inMinutes(600) }, sending, false],
  ['uploads that start later, with nothing to send', { startAt: inMinutes(600) }, { queued: 0 }, null],
  [
    'a person, who ends it',
    { people: [{ folder: null, since: since(-600), until: inMinutes(600), by: 'anna' }] },
    quiet,
    false,
  ],
])('waiting for %s', ([, moment, busy, is]) => {
  const wait = mainWait(waitsAt(moment, Date.now()), busy.queued);
  expect(wait && isStuck(wait, stagesWith(busy), 120_000)).toBe(is);
});

const waiting = someFacts({ notBefore: 1, lastFailure: failure('suspended', { code: 'folder_away' }) });
const frozen = waitsAt({ frozen: ['/inbox'] });

test.for([
  { name: 'all of a frozen folder', active: [waiting, waiting], waits: frozen, is: true },
  { name: 'nothing', active: [], waits: frozen, is: false },
  { name: 'all of a folder that is back', active: [waiting], waits: [], is: false },
  { name: 'one of another folder', active: [waiting, { ...waiting, folder: '/b' }], waits: frozen, is: false },
  { name: 'one that is processed', active: [waiting, someFacts(uploaded)], waits: frozen, is: false },
  { name: 'one that was not tried yet', active: [someFacts(), waiting], waits: frozen, is: false },
])('a run can do nothing more when what is left is $name: $is', ({ active, waits, is }) => {
  expect(whyAway(active, waits)).toBe(is ? '/inbox waits: nothing is mounted there' : null);
});
