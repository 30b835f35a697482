import { expect, test } from 'vitest';
import type { Message } from '../../../packages/notify/src/message.ts';
import type { Pause } from '../../../src/pipeline/events.ts';
import { withWaitingFiles } from '../../../src/status/notifications/waiting-files.ts';
import { pause } from './desk.ts';

const quota = pause({ kind: 'suspended', holds: 'new files', code: 'quota_reached', trouble: 'quota' });
const channel = pause({ ...quota, code: 'channel_closed', trouble: 'channel', channel: 'ch_a' });
const plan = pause({ ...quota, code: 'plan_expired', trouble: 'account' });
const key = pause({ kind: 'suspended', code: 'forbidden' });
const uploads = pause({ holds: 'uploads' });

const message = (type: Message['type'], cause = 'service'): Message => ({
  type,
  title: 'The service cannot be reached: all work waits',
  body: 'http://x cannot be reached.',
  level: 'warn',
  cause,
  at: 0,
  count: 1,
  files: [],
});

test.each([
  ['paused', { queued: 3, retrying: 2, done: 40, failed: 1 }, 'http://x cannot be reached.\n5 files wait.'],
  ['key_refused', { creating: 1 }, 'http://x cannot be reached.\n1 file waits.'],
  ['paused', { done: 40 }, 'http://x cannot be reached.'],
  ['folder_away', { queued: 3 }, 'http://x cannot be reached.'],
  ['recovered', { queued: 3 }, 'http://x cannot be reached.'],
] as const)('a message of %s with the files %j', (type, counts, body) => {
  const waiting = { 'by state': counts, backlog: { toCreate: 0, toSend: 0 } };
  expect(withWaitingFiles([message(type)], waiting, [])[0]?.body).toBe(body);
});

test.each<[string, Message['type'], Pause[], string, string]>([
  ['a quota holds new files', 'paused', [quota], 'quota', 'http://x cannot be reached.\n7 new files wait.'],
  ['a host holds uploads', 'paused', [uploads], 'upload host', 'http://x cannot be reached.\n1,200 files wait.'],
  ['one channel holds an unknown number', 'key_refused', [channel], 'channel: ch_a', 'http://x cannot be reached.'],
  [
    'the whole account and new files',
    'key_refused',
    [key, plan],
    'account',
    'http://x cannot be reached.\n2,009 files wait.',
  ],
])('%s', (_, type, pauses, cause, body) => {
  const waiting = { 'by state': { queued: 9, processing: 2_000 }, backlog: { toCreate: 7, toSend: 1_200 } };
  expect(withWaitingFiles([message(type, cause)], waiting, pauses)[0]?.body).toBe(body);
});
