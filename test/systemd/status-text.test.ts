import { expect, test } from 'vitest';
import type { Summary } from '../../src/daemon/summary.ts';
import type { Wait } from '../../src/view/waits.ts';
import { statusText, stoppingText } from '../../src/systemd/status-text.ts';

const nothing: Summary = {
  states: {},
  uploading: 0,
  queued: 0,
  processing: 0,
  awaitingPublish: 0,
  retrying: 0,
  settling: 0,
  needsYou: 0,
  done: 0,
  waits: [],
  requests: { used: 3, limit: 1_000 },
};

const wait = { since: null, until: null, remedy: null } as const;
const frozen: Wait = { ...wait, cause: 'folder', holds: 'some', what: '/inbox', why: 'it is away' };
const away: Wait = {
  ...wait,
  cause: 'service',
  holds: 'everything',
  what: 'everything',
  why: 'the service cannot be reached',
};
const closed: Wait = {
  ...wait,
  cause: 'upload window',
  holds: 'uploads',
  what: 'uploads',
  why: 'outside `uploads.window`',
};

test.for<[string, Partial<Summary>]>([
  [
    '3 uploading · 12 queued · 1 needs you · API 412/1000',
    { uploading: 3, queued: 12, needsYou: 1, done: 9, requests: { used: 412, limit: 1_000 } },
  ],
  ['Idle · 120 done · API 3/1000', { done: 120 }],
  ['Idle · API 3/1000', {}],
  ['Idle · 120 done · 2 need you · API 3/1000', { done: 120, needsYou: 2 }],
  ['4 processing · 5 awaiting publish · 6 retrying · API 3/1000', { processing: 4, awaitingPublish: 5, retrying: 6 }],
  ['1 settling · API 3/1000', { settling: 1 }],
  ['Idle · 1 folder frozen · API 3/1000', { waits: [frozen] }],
  ['1 uploading · 1 needs you · 2 folders frozen · API 3/1000', { uploading: 1, needsYou: 1, waits: [frozen, frozen] }],
  ['Everything waits: the service cannot be reached · 1 folder frozen', { waits: [away, frozen] }],
  ['Everything waits: the service cannot be reached', { queued: 7, waits: [away] }],
  ['Uploads wait: outside `uploads.window`', { queued: 1, waits: [closed] }],
  ['Idle · API 3/1000', { waits: [closed] }],
])('%s', ([text, numbers]) => {
  expect(statusText({ ...nothing, ...numbers })).toBe(text);
});

test('the end says how many uploads it waits for', () => {
  expect([2, 1, 0].map(stoppingText)).toEqual([
    expect.stringMatching(/^Stopping: .*2 uploads/),
    expect.stringMatching(/^Stopping: .*1 upload$/),
    'Stopping',
  ]);
});
