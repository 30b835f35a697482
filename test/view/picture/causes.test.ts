import { expect, test } from 'vitest';
import { causeOf } from '../../../src/view/picture/causes.ts';
import { causeKey } from '../../../src/pipeline/file/selection.ts';
import { failure, someFacts } from '../../pipeline/some-facts.ts';

const caused = { cause: 'no_rule', files: 2, extensions: ['mkv'], message: 'no rule matches' };

test.each([
  [{ files: 60 }, '60 .mkv files match no rule'],
  [{ files: 1 }, '1 .mkv file matches no rule'],
  [{ extensions: [''] }, '2 files match no rule'],
  [{ files: 3, extensions: ['mkv', 'avi'] }, '3 files (.mkv, .avi) match no rule'],
  [{ files: 9, extensions: ['mkv', 'avi', '', 'ts', 'mxf'] }, '9 files (.mkv, .avi, .ts, …) match no rule'],
  [{ cause: 'deleted_on_service', files: 1 }, '1 .mkv file was deleted on the service'],
  [{ cause: 'unknown_channel.ch_x', files: 1 }, '1 .mkv file waits for channel ch_x, which the service does not have'],
  [{ cause: 'unknown_feed.feed_x', files: 1 }, '1 .mkv file is ready, but the service does not have its feed feed_x'],
  [
    { cause: 'local.EACCES', message: 'permission denied' },
    '2 .mkv files are done, but their local files cannot be deleted or moved: permission denied',
  ],
  [
    { cause: 'invalid_request.tags', message: 'the service answered 422 invalid_request: tags: too many' },
    '2 .mkv files stopped: the service answered 422 invalid_request: tags: too many',
  ],
])('%o is said as: %s', (other, title) => {
  expect(causeOf({ ...caused, ...other }).title).toBe(title);
});

test('closed directories are no files', () => {
  const message = "user nobody may not open the directory /in/a (EACCES); run `sudo setfacl -m u:nobody:rx -- '/in/a'`";
  const of = (files: number) => causeOf({ cause: 'closed_directory', files, extensions: [''], message });
  expect([of(1).title, of(2).title]).toEqual([
    '1 directory cannot be read by dropcast',
    '2 directories cannot be read by dropcast',
  ]);
  for (const { next } of [of(1), of(2)]) expect(next).toContain('sudo setfacl');
});

const keys = [
  'unreadable',
  'closed_directory',
  'no_rule',
  'sidecar',
  'flawed',
  'existing',
  'not_found',
  'processing_failed',
  'gave_up',
  'import_in_doubt',
  'upload_address_dead',
  'over_size_limit',
  'deleted_on_service',
  'checksum_mismatch',
  'checksum_unreadable',
  'feed_not_found',
  'local.EACCES',
  'unknown_channel.ch_x',
  'unknown_feed.feed_x',
  'invalid_request.channel_id',
  'anything_else',
];

test.each(keys)('the cause %s says what to do and what can be done with all files', (cause) => {
  const { key, next, actions } = causeOf({ ...caused, cause });
  expect(key).toBe(cause);
  expect(next).toMatch(/^[`A-Z].*\.$/);
  expect(actions.length).toBeGreaterThan(0);
});

test.each([
  ['the container says 5 bytes are missing', /^Copy it again\. .*`dropcast retry --force`/],
  ['the container states no length: the file is still being recorded', /^Once .*`dropcast retry --force`.* does not/],
  ['this is a web page, not a video', /^Replace it with the video/],
])('a file of which is known that %s gets advice that helps', (message, advice) => {
  expect(causeOf({ ...caused, cause: 'flawed', files: 1, message }).next).toMatch(advice);
  expect(causeOf({ ...caused, cause: 'flawed', files: 2, message }).next).toMatch(/states no length/);
});

test('files that no rule takes are not offered a retry: it would refuse them', () => {
  expect(causeOf(caused).actions).not.toContain('retry');
});

test('a file without a failure has no cause', () => {
  expect(causeKey(someFacts())).toBeNull();
  expect(causeKey(someFacts({ lastFailure: failure('permanent', { code: 'flawed' }) }))).toBe('flawed');
});

test.each(keys)('the advice for one file with %s speaks of one file', (cause) => {
  expect(causeOf({ ...caused, cause, files: 1 }).next).not.toMatch(/\b(them|they|their|others|each)\b/);
});

test('a file without a rule is not offered another channel: a retry would refuse it', () => {
  expect(causeOf({ ...caused, cause: 'no_rule' }).actions).not.toContain('send elsewhere');
});
