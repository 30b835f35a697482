import { expect, test } from 'vitest';
import type { Message } from '../../../packages/notify/src/message.ts';
import { withWaitingFiles } from '../../../src/status/notifications/waiting-files.ts';

const message = (type: Message['type']): Message => ({
  type,
  title: 'The service cannot be reached: all work waits',
  body: 'http://x cannot be reached.',
  level: 'warn',
  cause: 'service',
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
  expect(withWaitingFiles([message(type)], counts)[0]?.body).toBe(body);
});
