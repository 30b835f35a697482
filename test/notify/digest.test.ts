import { describe, expect, test } from 'vitest';
import { isInWindow } from '../../src/config/day-window.ts';
import { clockTime } from '../../src/view/words/text.ts';
import type { OutboxRow } from '../../packages/notify/src/ports.ts';
import { nextBatch } from '../../packages/notify/src/digest.ts';

const at = (time: string): number => new Date(`2026-11-22T${time}:00`).getTime();
const quiet = { from: 22 * 60, to: 7 * 60 };
const row = (seq: number, time: string, more: Partial<OutboxRow> & { cause?: string } = {}): OutboxRow => ({
  seq,
  at: at(time),
  triedAt: null,
  refusals: 0,
  message: {
    type: 'live',
    title: `t${seq}`,
    body: 'b',
    level: 'info',
    cause: more.cause ?? `c${seq}`,
    at: at(time),
    count: 1,
    files: [],
  },
  ...more,
});
const next = (rows: OutboxRow[], world: { dropped?: number; isQuiet?: boolean } = {}) =>
  nextBatch(rows, {
    quiet: world.isQuiet === true ? quiet : null,
    dropped: world.dropped ?? 0,
    now: at('20:00'),
    id: 'l',
    host: 'ingest1',
    clock: { timeOf: clockTime, isInWindow },
  });

describe('what is sent next', () => {
  test.each<[string, OutboxRow[], boolean, number[], string]>([
    ['the one message that waits', [row(1, '10:00')], false, [1], 't1'],
    ['the oldest of a few', [row(1, '10:00'), row(2, '10:01')], false, [1], 't1'],
    [
      'a digest of several of one cause',
      [row(1, '10:00', { cause: 'x' }), row(2, '10:01', { cause: 'x' })],
      false,
      [1, 2],
      '2 messages from dropcast',
    ],
    ['a digest of many', [1, 2, 3, 4].map((n) => row(n, '10:00')), false, [1, 2, 3, 4], '4 messages from dropcast'],
    ['a digest of the night', [row(1, '23:00'), row(2, '06:59')], true, [1, 2], '2 messages from dropcast'],
    ['one of the night as it is', [row(1, '23:00')], true, [1], 't1'],
  ])('%s', (_, rows, isQuiet, seqs, title) => {
    const batch = next(rows, { isQuiet });
    expect([batch.seqs, batch.envelope.title]).toEqual([seqs, title]);
  });

  test.each<[string, OutboxRow[], number[], string, boolean]>([
    ['one message', [row(7, '10:00'), row(8, '10:01')], [7], 'l-7', false],
    ['a digest', [7, 8, 9, 12].map((n) => row(n, '10:00')), [7, 8, 9, 12], 'l-7-12', false],
    [
      'one that may have arrived, and many that came after it',
      [row(7, '10:00', { triedAt: 5 }), ...[8, 9, 10, 11].map((n) => row(n, '10:01'))],
      [7],
      'l-7',
      true,
    ],
    [
      'a digest that may have arrived, and one message that came after it',
      [...[7, 8, 9, 10].map((n) => row(n, '10:00', { triedAt: 5 })), row(11, '10:01')],
      [7, 8, 9, 10],
      'l-7-10',
      true,
    ],
  ])('a repeat is what was sent, with its id: %s', (_, rows, seqs, id, isRepeat) => {
    const batch = next(rows);
    expect([batch.seqs, batch.envelope.id, batch.envelope.isRepeat]).toEqual([seqs, id, isRepeat]);
  });

  test.each([
    ['info', 'info'],
    ['warn', 'warn'],
  ] as const)('a digest with one that is %s is %s, and counts its messages', (level, expected) => {
    const last = row(4, '10:00', { message: { ...(row(4, '10:00').message as object), level } });
    const { envelope } = next([...[1, 2, 3].map((n) => row(n, '10:00')), last]);
    expect(envelope).toMatchObject({ type: 'digest', level: expected, count: 4, cause: 'digest' });
  });

  test('says what was dropped, and that it may be a repeat', () => {
    const { envelope } = next([row(7, '10:00', { triedAt: 5 })], { dropped: 312 });
    expect(envelope).toMatchObject({ body: 'b\nAnd 312 older messages were dropped.', isRepeat: true, id: 'l-7' });
  });

  test('a digest of hundreds shows the last twenty', () => {
    const { envelope, seqs } = next(Array.from({ length: 300 }, (_, n) => row(n, '10:00')));
    expect(seqs).toHaveLength(300);
    expect(envelope.body.split('\n')).toHaveLength(21);
    expect(envelope.body).toMatch(/^280 other messages are not shown\./);
  });

  test('a digest of hundreds shows what needs a person, however much came after it', () => {
    const urgent = { ...(row(1, '09:00').message as object), title: 'a.mp4 needs you', level: 'warn' };
    const rows = [row(1, '09:00', { message: urgent }), ...Array.from({ length: 300 }, (_, n) => row(n + 2, '10:00'))];
    expect(next(rows).envelope.body.split('\n').slice(0, 2)).toEqual([
      '281 other messages are not shown.',
      '09:00  a.mp4 needs you',
    ]);
  });
});
