import { describe, expect, test } from 'vitest';
import type { OutboxRow } from '../../../src/ledger/news-rows.ts';
import { nextBatch } from '../../../src/status/notifications/digest.ts';

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
