import { expect, test } from 'vitest';
import type { Queued } from '../../../src/pipeline/file/queue.ts';
import { slotsForBig, whyNoSlot, whyNotAhead } from '../../../src/pipeline/steps/lanes.ts';

const one = (other: Partial<Queued> = {}): Queued => ({
  id: 'f_1',
  folder: '/in',
  priority: 'normal',
  isBig: false,
  urgency: null,
  uploadUrl: null,
  isSent: false,
  ...other,
});
const big = one({ isBig: true });
const small = one();
const due = one({ urgency: 1 });
const limits = { uploads: 4, folderUploads: new Map([['/limited', 2]]) };
const limited = one({ folder: '/limited' });
const limitedBig = one({ folder: '/limited', isBig: true });

test('of two slots and more at least one is kept for small files', () => {
  expect([1, 2, 3, 4, 7, 8, 12, 32].map(slotsForBig)).toEqual([1, 1, 2, 3, 6, 6, 9, 24]);
});

test.each<[string, Queued, readonly Queued[], ReturnType<typeof whyNoSlot>]>([
  ['a big file while three are sent', big, [big, big, big], 'kept for small'],
  ['a small file while three big ones are sent', small, [big, big, big], null],
  ['a big file among small ones', big, [small, small, small], null],
  ['a file whose folder has its two', limited, [limited, limited], 'folder'],
  ['a file of another folder then', small, [limited, limited], null],
])('%s: %s', (_name, file, sending, why) => {
  expect(whyNoSlot(file, sending, limits)).toBe(why);
});

test.each<[string, Queued, readonly Queued[], ReturnType<typeof whyNotAhead>]>([
  ['a big file while three have a record', big, [big, big, big], 'kept for small'],
  ['a small file while three big ones have', small, [big, big, big], null],
  ['the ninth file', small, Array.from({ length: 8 }, () => small), 'all'],
  ['the fifth of a folder that may send two', limited, [limited, limited, limited, limited], 'folder'],
  ['the third big one of that folder', limitedBig, [limitedBig, limitedBig], 'folder'],
  ['the ninth file, which has a deadline', due, Array.from({ length: 8 }, () => small), null],
  ['the ninth with a deadline', due, Array.from({ length: 8 }, () => due), 'all'],
  ['the ninth file, after eight with a deadline', small, Array.from({ length: 8 }, () => due), 'all'],
])('records ahead, %s: %s', (_name, file, ahead, why) => {
  expect(whyNotAhead(file, ahead, limits)).toBe(why);
});
