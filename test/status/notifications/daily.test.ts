import { describe, expect, test } from 'vitest';
import { receipt, receiptDue } from '../../../src/status/notifications/daily.ts';
import type { LastReceipt } from '../../../src/status/notifications/daily.ts';

const at = (text: string): number => new Date(text).getTime();
const eight = 20 * 60;

/** Looks at these times, each after the other. @returns those at which a receipt is due, with the time since which it counts */
function due(times: readonly string[], last: LastReceipt | null = null): string[] {
  const lines: string[] = [];
  for (const time of times) {
    const { since, next } = receiptDue(last, eight, at(time));
    last = next ?? last;
    if (since !== null) lines.push(`${time} since ${new Date(since).toDateString()} ${new Date(since).getHours()}`);
  }
  return lines;
}

describe('the daily receipt', () => {
  test.each<[string, string[], string[]]>([
    [
      'comes at the next such hour',
      ['2026-11-22T10:00', '2026-11-22T19:59', '2026-11-22T20:00', '2026-11-22T20:01'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10'],
    ],
    [
      'does not come at once when it is set up in the evening',
      ['2026-11-22T21:00', '2026-11-23T19:00', '2026-11-23T20:00'],
      ['2026-11-23T20:00 since Sun Nov 22 2026 21'],
    ],
    [
      'comes once a day',
      ['2026-11-22T10:00', '2026-11-22T20:00', '2026-11-22T23:00', '2026-11-23T20:00'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10', '2026-11-23T20:00 since Sun Nov 22 2026 20'],
    ],
    [
      'comes later on the day when the daemon was down',
      ['2026-11-22T10:00', '2026-11-22T22:00'],
      ['2026-11-22T22:00 since Sun Nov 22 2026 10'],
    ],
    [
      'counts from further back after days without a daemon',
      ['2026-11-22T10:00', '2026-11-25T09:00', '2026-11-25T20:00'],
      ['2026-11-25T20:00 since Sun Nov 22 2026 10'],
    ],
    [
      'is not repeated by a clock that is set back',
      ['2026-11-22T10:00', '2026-11-22T20:00', '2026-11-22T19:30', '2026-11-22T20:00', '2026-11-21T20:00'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10'],
    ],
    [
      'of the days after a clock that was a day ahead for a while leaves nothing out',
      ['2026-11-22T10:00', '2026-11-23T20:00', '2026-11-22T11:00', '2026-11-22T20:00', '2026-11-23T20:00'],
      [
        '2026-11-23T20:00 since Sun Nov 22 2026 10',
        '2026-11-22T20:00 since Sun Nov 22 2026 11',
        '2026-11-23T20:00 since Sun Nov 22 2026 20',
      ],
    ],
    [
      'after a clock that was set back to the morning comes at its hour again, not before',
      ['2026-11-22T10:00', '2026-11-22T20:00', '2026-11-21T09:00', '2026-11-21T19:59', '2026-11-21T20:00'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10', '2026-11-21T20:00 since Sat Nov 21 2026 9'],
    ],
    [
      'after a clock that was set back to the evening of a day before does not come at once',
      ['2026-11-22T10:00', '2026-11-22T20:00', '2026-11-20T21:00', '2026-11-20T22:00', '2026-11-21T20:00'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10', '2026-11-21T20:00 since Fri Nov 20 2026 21'],
    ],
    [
      'at the very moment of the last one leaves nothing out',
      ['2026-11-22T10:00', '2026-11-22T10:00', '2026-11-22T20:00', '2026-11-22T20:00'],
      ['2026-11-22T20:00 since Sun Nov 22 2026 10'],
    ],
  ])('%s', (_, times, lines) => {
    expect(due(times)).toEqual(lines);
  });

  test('says what came in and what went live', () => {
    const message = receipt(
      { came: 214, live: 214, bytes: 3_410_000_000 },
      { needsYou: 0, missing: [], isWanted: false },
      1,
    );
    expect(message).toMatchObject({ type: 'daily', title: '214 in, 214 out', level: 'info' });
    expect(message?.body).toBe('214 files came in, 214 files went live (3.41 GB).\nNothing needs you.');
    expect(
      receipt({ came: 2, live: 1, bytes: 1 }, { needsYou: 1, missing: ['x is missing'], isWanted: false }, 1),
    ).toMatchObject({
      level: 'warn',
      body: '2 files came in, 1 file went live (1 B).\n1 file needs you: see dropcast status.\nx is missing',
    });
  });

  test.each([[false], [true]])('a day on which nothing happened is reported only on request: %s', (isWanted) => {
    expect(receipt({ came: 0, live: 0, bytes: 0 }, { needsYou: 0, missing: [], isWanted }, 1) !== null).toBe(isWanted);
  });
});
