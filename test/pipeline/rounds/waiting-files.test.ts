import { expect, test, vi } from 'vitest';
import { createWaitingFiles } from '../../../src/pipeline/rounds/waiting-files.ts';
import { failure, someFacts } from '../../pipeline/some-facts.ts';
import { TestClock } from '../test-clock.ts';

const refused = failure('transient', { code: 'EACCES' });
const file = (n: number, folder = '/in') => someFacts({ id: `f_${n}`, folder });
const opened = () => createWaitingFiles(new TestClock(), () => ({ attempts: 3, firstMs: 60_000, maxMs: 60_000 }));

test('the first file of a folder and cause is distinguished from those that follow, until none waits for it', () => {
  const waiting = opened();
  const first = [waiting.wait(file(1), refused), waiting.wait(file(1), refused), waiting.wait(file(2), refused)];
  expect(first).toEqual(['first', 'further', 'further']);
  expect(waiting.wait(file(3, '/other'), refused)).toBe('first');
  expect(waiting.wait(file(4), failure('suspended', { code: 'EROFS' }))).toBe('first');
  waiting.end('f_1', false);
  expect(waiting.wait(file(5), refused)).toBe('further');
  for (const id of ['f_2', 'f_5']) waiting.end(id, true);
  expect(waiting.wait(file(6), refused)).toBe('first');
});

test('a file that waits for something else now leaves those that it waited with', () => {
  const waiting = opened();
  waiting.wait(file(1), refused);
  expect(waiting.wait(file(1), failure('transient', { code: 'in_use' }))).toBe('first');
  expect(waiting.wait(file(2), refused)).toBe('first');
  waiting.end('f_1', true);
  expect(waiting.due(9)).toEqual([]);
});

// With a look at all others for each, 20,000 files took seconds without a pause, and 100,000 minutes.
test('thousands that resume together are each made due once', () => {
  const waiting = opened();
  for (let n = 0; n < 2_000; n += 1) waiting.wait(file(n), refused);
  using forgotten = vi.spyOn(Map.prototype, 'delete');
  waiting.end('f_0', true);
  for (let due = waiting.due(8); due.length > 0; due = waiting.due(8)) for (const id of due) waiting.end(id, true);
  expect(forgotten.mock.calls.length).toBeLessThan(10 * 2_000);
});

test('a scan of the folder makes one file of each cause due that the disk may have ended, and no other', () => {
  const waiting = opened();
  for (const n of [1, 2]) waiting.wait(file(n), failure('suspended', { code: 'folder_away' }));
  for (const n of [3, 4]) waiting.wait(file(n), refused);
  waiting.wait(file(5), failure('transient', { code: 'in_use' }));
  waiting.wait(file(6, '/other'), refused);
  expect(waiting.folderSeen('/in')).toBe(true);
  expect(waiting.due(9)).toEqual(['f_1', 'f_3']);
  // Their next try is due already.
  expect(waiting.folderSeen('/in')).toBe(false);
  waiting.end('f_3', true);
  expect(waiting.due(9)).toEqual(['f_1', 'f_4']);
});
