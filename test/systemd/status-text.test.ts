import { expect, test } from 'vitest';
import type { StageName } from '../../src/view/picture/picture.ts';
import type { Wait } from '../../src/view/waits.ts';
import { somePicture, stagesWith } from '../view/picture/some-picture.ts';
import { statusText, stoppingText } from '../../src/systemd/lifecycle.ts';

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

interface Numbers extends Partial<Record<StageName, number>> {
  readonly retrying?: number;
  readonly needsYou?: number;
  readonly used?: number;
  readonly waits?: readonly Wait[];
}

test.for<[string, Numbers]>([
  [
    '12 queued · 3 uploading · 1 needs you · API 412/1000',
    { uploading: 3, queued: 12, needsYou: 1, live: 9, used: 412 },
  ],
  ['Idle · 120 done · API 3/1000', { live: 120 }],
  ['Idle · API 3/1000', {}],
  ['Idle · 120 done · 2 need you · API 3/1000', { live: 120, needsYou: 2 }],
  [
    '6 uploading · 4 processing · 5 publishing (6 retrying) · API 3/1000',
    { processing: 4, publishing: 5, retrying: 6 },
  ],
  ['1 settling · API 3/1000', { settling: 1 }],
  ['Idle · 1 folder frozen · API 3/1000', { waits: [frozen] }],
  ['1 uploading · 1 needs you · 2 folders frozen · API 3/1000', { uploading: 1, needsYou: 1, waits: [frozen, frozen] }],
  ['Everything waits: the service cannot be reached · 1 folder frozen', { waits: [away, frozen] }],
  ['Everything waits: the service cannot be reached', { queued: 7, waits: [away] }],
  ['Uploads wait: outside `uploads.window`', { queued: 1, waits: [closed] }],
  ['Idle · API 3/1000', { waits: [closed] }],
])('%s', ([text, { retrying = 0, needsYou = 0, used = 3, waits = [], ...files }]) => {
  const quiet = somePicture();
  const picture = somePicture({
    waits,
    counts: { done: files.live ?? 0 },
    stages: stagesWith(files).map((stage) => ({ ...stage, retrying: stage.name === 'uploading' ? retrying : 0 })),
    retrying: { files: retrying, next_at: null },
    needs_you: { ...quiet.needs_you, files: needsYou },
    budget: { ...quiet.budget, used },
  });
  expect(statusText(picture)).toBe(text);
});

test('the end says how many uploads it waits for', () => {
  expect([2, 1, 0].map(stoppingText)).toEqual([
    expect.stringMatching(/^Stopping: .*2 uploads/),
    expect.stringMatching(/^Stopping: .*1 upload$/),
    'Stopping',
  ]);
});
