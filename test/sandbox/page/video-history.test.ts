import { expect, test } from 'vitest';
import { stepsOf } from '../../../packages/sandbox/src/page/video-history.ts';

const NONE = { createdAtMs: 1000, uploadedAtMs: null, endedAtMs: null, failure: null };
const failure = { code: 'bad', message: 'It is bad.' };

test.each([
  ['pending', NONE, ['now', 'waiting for 9 s'], ['later', '']],
  ['processing', { ...NONE, uploadedAtMs: 3000 }, ['done', 'after 2 s'], ['now', 'processing for 7 s']],
  ['ready', { ...NONE, uploadedAtMs: 3000, endedAtMs: 4500 }, ['done', 'after 2 s'], ['done', '1.5 s of processing']],
  [
    'failed',
    { ...NONE, uploadedAtMs: 3000, endedAtMs: 4500, failure },
    ['done', 'after 2 s'],
    ['failed', 'after 1.5 s: It is bad.'],
  ],
  [
    'failed',
    { ...NONE, endedAtMs: 4500, failure },
    ['later', 'no file has arrived'],
    ['failed', 'after 3.5 s: It is bad.'],
  ],
] as const)('a video that is %s, %j', (status, times, uploaded, ended) => {
  const steps = stepsOf({ status, ...times }, 10_000);
  expect(steps[0]).toMatchObject({ kind: 'done', atMs: 1000 });
  expect(steps.slice(1).map(({ kind, note }) => [kind, note])).toEqual([uploaded, ended]);
});
