import { expect, test } from 'vitest';
import { sentenceOf } from '../../../src/view/words/picture-words.ts';
import type { Health } from '../../../src/view/words/picture-words.ts';

const idle: Health = {
  stopped: null,
  uploading: 0,
  waiting: 0,
  following: 0,
  retrying: 0,
  needsYou: 0,
  frozenFolders: 0,
  unmet: 0,
  today: { done: 0, failed: 0, bytes: 0 },
  live: 0,
};
const done = (files: number, failed = 0) => ({ today: { done: files, failed, bytes: 1 }, live: files });
const away = 'Waiting for the service';

test.each<[Partial<Health>, string, string]>([
  [{}, 'ok', 'No files have arrived yet.'],
  [{ needsYou: 2 }, 'attention', 'No file is live yet; 2 need you.'],
  [{ live: 9 }, 'ok', 'No files have arrived today, and all earlier ones are live.'],
  [{ live: 9, needsYou: 1 }, 'attention', 'No files have arrived today; 1 needs you.'],
  [done(1), 'ok', "Today's file is live."],
  [
    { ...done(214), unmet: 1 },
    'attention',
    "All 214 of today's files are live; 1 expected delivery is missing or late.",
  ],
  [done(214), 'ok', "All 214 of today's files are live."],
  [{ ...done(214), needsYou: 3 }, 'attention', "All 214 of today's files are live; 3 need you."],
  [{ ...done(211, 3), needsYou: 3 }, 'attention', "211 of today's 214 files are live; 3 need you."],
  [{ ...done(1, 1), needsYou: 1 }, 'attention', "1 of today's 2 files is live; 1 needs you."],
  [{ ...done(5, 2) }, 'ok', "5 of today's 7 files are live."],
  [{ uploading: 3, waiting: 12 }, 'busy', 'Uploading 3, 12 waiting, nothing needs you.'],
  [
    { uploading: 1, following: 4, retrying: 2 },
    'busy',
    'Uploading 1, 4 on the service, 2 retrying, nothing needs you.',
  ],
  [{ waiting: 100_000 }, 'busy', '100,000 waiting, nothing needs you.'],
  [{ following: 2, needsYou: 1 }, 'attention', '2 on the service; 1 needs you.'],
  [{ frozenFolders: 1 }, 'attention', 'No files have arrived yet; 1 folder is frozen.'],
  [{ uploading: 2, frozenFolders: 2, needsYou: 7 }, 'attention', 'Uploading 2; 2 folders are frozen; 7 need you.'],
  [{ stopped: away }, 'stopped', 'Waiting for the service: nothing new is sent.'],
  [{ stopped: away, waiting: 5, needsYou: 2 }, 'stopped', 'Waiting for the service: nothing new is sent; 2 need you.'],
])('%o is %s: %s', (other, level, text) => {
  expect(sentenceOf({ ...idle, ...other })).toEqual({ level, text });
});
