import { expect, test } from 'vitest';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import {
  graceMs,
  noteVersion,
  pauseBefore,
  requiredMs,
  startWaiting,
  whyItWaits,
} from '../../src/watch/waiting-file.ts';

const version: FileVersion = { dev: '1', ino: '2', birthtimeNs: '3', size: 100, mtimeNs: '4', ctimeNs: '5' };

test('an unchanged file waits for the settle time and says how far it is', () => {
  const file = startWaiting('a.mp4', 'media', version, 1000);
  expect(noteVersion(file, version, 4200)).toBe(false);
  expect(requiredMs(file, 5000)).toBe(5000);
  expect(whyItWaits(file, 5000, 4200)).toBe('unchanged for 3.2 of 5 s');
});

test.each<[string, Partial<FileVersion>]>([
  ['size', { size: 101 }],
  ['mtime', { mtimeNs: '9' }],
  ['ctime', { ctimeNs: '9' }],
  ['inode', { ino: '9' }],
  ['birth time', { birthtimeNs: '9' }],
  ['device', { dev: '9' }],
])('a change of the %s restarts the wait', (_, change) => {
  const file = startWaiting('a.mp4', 'media', version, 0);
  expect(noteVersion(file, { ...version, ...change }, 3000)).toBe(true);
  expect(file.sinceMs).toBe(3000);
});

test('it says why it waits longer than the settle time: its writer paused before', () => {
  const file = startWaiting('a.mp4', 'media', version, 0);
  noteVersion(file, { ...version, size: 200 }, 3000);
  expect(whyItWaits(file, 5000, 6200)).toBe('unchanged for 3.2 of 9 s (its writer paused 3 s before)');
  expect(whyItWaits(file, 9000, 6200)).toBe('unchanged for 3.2 of 9 s');
});

test.each([
  [1_000, 3_600_000, 'unchanged for 1 s of 1 h'],
  [798_200, 3_600_000, 'unchanged for 13 m 18 s of 1 h'],
  [60_000, 90_000, 'unchanged for 1 m of 1 m 30 s'],
  [59_990, 90_000, 'unchanged for 1 m of 1 m 30 s'],
  [7_200_000, 86_400_000, 'unchanged for 2 h of 1 d'],
])('%d of %d ms are said in the two largest units', (passed, settle, words) => {
  expect(whyItWaits(startWaiting('a.mp4', 'media', version, 0), settle, passed)).toBe(words);
});

test('it waits three times the longest pause of its writer, at most five minutes', () => {
  const file = startWaiting('a.mp4', 'media', version, 0);
  noteVersion(file, { ...version, size: 200 }, 4000);
  noteVersion(file, { ...version, size: 300 }, 5000);
  expect(requiredMs(file, 5000)).toBe(12_000);
  noteVersion(file, { ...version, size: 400 }, 90_000);
  expect(requiredMs(file, 5000)).toBe(255_000);
  noteVersion(file, { ...version, size: 500 }, 900_000);
  expect(requiredMs(file, 5000)).toBe(300_000);
  expect(requiredMs(file, 600_000)).toBe(600_000);
});

test('a chmod teaches nothing about the pauses of the writer', () => {
  const file = startWaiting('a.mp4', 'media', version, 0);
  noteVersion(file, { ...version, ctimeNs: '9' }, 4000);
  expect(requiredMs(file, 5000)).toBe(5000);
});

test('what looks unfinished gets ten settle times, at least 30 s', () => {
  expect(graceMs(300)).toBe(30_000);
  expect(graceMs(5000)).toBe(50_000);
});

test.each<[string, Partial<FileVersion> | null, number]>([
  ['grew in its place', {}, 6_000],
  ['was never taken', null, 0],
  ['is another file now', { ino: '9' }, 0],
  ['was made anew with the number of the old one', { birthtimeNs: '9' }, 0],
  ['was overwritten with as many bytes', { size: 200 }, 0],
  ['changed before it was taken, as after a clock that was set back', { ctimeNs: '60000000000' }, 0],
  ['keeps the modification time of its original', { mtimeNs: '1' }, 6_000],
])('the pause before a file that %s', (_, taken, pauseMs) => {
  const grown = { ...version, size: 200, ctimeNs: '7000000000' };
  expect(pauseBefore(taken === null ? undefined : { ...version, ctimeNs: '1000000000', ...taken }, grown)).toBe(
    pauseMs,
  );
});
