import { expect, test } from 'vitest';
import { NotNowError } from '../../src/watch/ports.ts';
import { ofFiles, Rejections } from '../../src/watch/refused-paths.ts';

function recorded() {
  const lines: (readonly [string, string, Readonly<Record<string, unknown>>])[] = [];
  const note =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push([level, message, fields]);
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  return {
    rejections: new Rejections('/inbox', logger, ofFiles),
    said: () => lines.filter(([level]) => level !== 'debug'),
  };
}

test('a hundred files that a full disk keeps out are one line, and one with their number when it has passed', () => {
  const { rejections, said } = recorded();
  for (let turn = 0; turn < 7; turn += 1)
    for (let n = 0; n < 100; n += 1) rejections.rejected(`${n}.mp4`, 1_000, new Error('the disk is full'));
  expect(said()).toMatchObject([['warn', expect.stringContaining('Cannot accept a file'), { path: '0.mp4' }]]);
  rejections.taken();
  rejections.taken();
  expect(said().slice(1)).toMatchObject([
    ['info', 'Accepting files again', { waited: 100, after: 'Error: the disk is full' }],
  ]);
});

test('another cause is another line, and a cause that comes back is said again', () => {
  const { rejections, said } = recorded();
  for (const cause of ['full', 'read-only', 'full']) rejections.rejected('a.mp4', 1, new Error(cause));
  expect(said()).toHaveLength(2);
  rejections.taken();
  rejections.rejected('a.mp4', 1, new Error('full'));
  expect(said().filter(([level]) => level === 'warn')).toHaveLength(3);
});

test('a file that only has to wait is no line', () => {
  const { rejections, said } = recorded();
  rejections.rejected('a.mp4', 1, new NotNowError('busy'));
  rejections.taken();
  expect(said()).toEqual([]);
});
