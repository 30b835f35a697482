import { expect, test } from 'vitest';
import { statusNeedsPerson } from '../../../src/cli/look/status.ts';
import type { Picture } from '../../../src/view/picture/picture.ts';
import { emptyPicture } from '../../../src/view/picture/take-picture.ts';

const pause = { why: 'the service answered 401', since: 1, next_probe_at: 2 };
const folder = { path: '/inbox', why: null } as Picture['folders'][number];
const expected = { folder: '/inbox', match: '*.mp4' } as Picture['expectations'][number];

test.each<[string, Partial<Picture>, boolean]>([
  ['nothing was ever done', {}, false],
  ['a file failed or is held', { needs_you: { files: 1, causes: [], more: { causes: 0, files: 0 } } }, true],
  ['an upload host refuses a file for an hour', { needing: [{} as Picture['needing'][number]] }, true],
  ['the service refuses the key', { waiting: { ...pause, kind: 'suspended' } }, true],
  ['the service cannot be reached', { waiting: { ...pause, kind: 'offline' } }, false],
  ['a folder is frozen', { folders: [{ ...folder, state: 'frozen' }] }, true],
  ['a folder is being scanned', { folders: [{ ...folder, state: 'scanning' }] }, false],
  ['a delivery is missing', { expectations: [{ ...expected, state: 'missing' }] }, true],
  ['a delivery is late', { expectations: [{ ...expected, state: 'late' }] }, true],
  ['a delivery is still to come', { expectations: [{ ...expected, state: 'expected' }] }, false],
])('`dropcast status`, when %s: a person has to act is %o', (_what, view, needs) => {
  expect(statusNeedsPerson({ ...emptyPicture, ...view })).toBe(needs);
});
