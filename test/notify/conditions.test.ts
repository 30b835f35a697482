import { describe, expect, test } from 'vitest';
import { lastsAny, looked, toTell } from '../../packages/notify/src/conditions.ts';
import type { Conditions, Trouble } from '../../packages/notify/src/conditions.ts';

const minute = 60_000;
const away: Trouble = {
  cause: 'folder:/in',
  kind: 'folder_away',
  holdMs: minute,
  title: '/in is away',
  body: 'why',
  overTitle: '/in is back',
};
const refused: Trouble = {
  ...away,
  cause: 'key',
  kind: 'key_refused',
  holdMs: 0,
  title: 'key refused',
  overTitle: 'key ok',
};

/** A timeline: at each minute what is wrong. @returns what was told, by minute */
function told(
  timeline: readonly (readonly [minutes: number, troubles: readonly Trouble[]])[],
  until: number,
): string[] {
  let conditions: Conditions = {};
  const lines: string[] = [];
  const at = new Map(timeline.map(([when, troubles]) => [when, troubles]));
  let troubles: readonly Trouble[] = [];
  for (let half = 0; half <= until * 2; half += 1) {
    const now = half / 2;
    troubles = at.get(now) ?? troubles;
    conditions = looked(conditions, troubles, now * minute);
    const result = toTell(conditions, now * minute);
    // It is kept as JSON between two looks, as over a restart.
    conditions = JSON.parse(JSON.stringify(result.conditions)) as Conditions;
    lines.push(...result.messages.map(({ type, title }) => `${now} ${type}: ${title}`));
  }
  return lines;
}

describe('notifications about a problem', () => {
  test.each<[string, Parameters<typeof told>[0], number, string[]]>([
    ['nothing while nothing is wrong', [], 5, []],
    ['a refused key at once', [[2, [refused]]], 5, ['2 key_refused: key refused']],
    [
      'a folder that stays away, and once it is back for a minute',
      [
        [1, [away]],
        [10, []],
      ],
      20,
      ['2 folder_away: /in is away', '11 recovered: /in is back'],
    ],
    [
      'nothing of a problem that ended before any report',
      [
        [1, [away]],
        [1.5, []],
      ],
      20,
      [],
    ],
    [
      'no recovery of what is away again within the minute',
      [
        [1, [away]],
        [5, []],
        [5.5, [away]],
      ],
      20,
      ['2 folder_away: /in is away'],
    ],
    [
      'each of two causes separately',
      [
        [1, [away, refused]],
        [3, [away]],
      ],
      8,
      ['1 key_refused: key refused', '2 folder_away: /in is away', '4 recovered: key ok'],
    ],
    [
      'a change of stage',
      [
        [0, [{ ...refused, stage: 'missing' }]],
        [5, [{ ...refused, stage: 'late', title: 'late' }]],
      ],
      8,
      ['0 key_refused: key refused', '5 key_refused: late'],
    ],
    [
      'a second stage not before a minute has passed',
      [
        [0, [{ ...refused, stage: 'missing' }]],
        [0.5, [{ ...refused, stage: 'late', title: 'late' }]],
      ],
      8,
      ['0 key_refused: key refused', '1 key_refused: late'],
    ],
  ])('%s', (_, timeline, until, lines) => {
    expect(told(timeline, until)).toEqual(lines);
  });

  test('a folder that comes and goes all day is reported a few times an hour, and never twice in a minute', () => {
    const flapping = Array.from({ length: 240 }, (_, n): [number, Trouble[]] => [n * 1.5, n % 2 === 0 ? [away] : []]);
    const lines = told(flapping, 360);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.length).toBeLessThan(6 * 5);
    const minutes = lines.map((line) => Number(line.split(' ')[0]));
    expect(minutes.every((at, n) => n === 0 || at - (minutes[n - 1] ?? 0) >= 1)).toBe(true);
  });

  test.each([
    [10, 5, ['why', 'why\nThis is the second time within an hour.']],
    [20, 3, ['why', 'why\nThis is the second time within an hour.', 'why\nThis is the third time within an hour.']],
  ])('what comes back every %i minutes says how often within an hour', (every, lasts, expected) => {
    let conditions: Conditions = {};
    const bodies: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      conditions = looked(conditions, n % every < lasts ? [away] : [], n * minute);
      const result = toTell(conditions, n * minute);
      conditions = result.conditions;
      bodies.push(...result.messages.filter(({ type }) => type === 'folder_away').map(({ body }) => body));
    }
    expect(bodies).toEqual(expected);
  });

  test('a cause that cannot be checked now stays as it was', () => {
    const before = toTell(looked({}, [refused], 0), 0).conditions;
    const unseen = looked(before, [], minute, (cause) => cause !== 'key');
    expect(toTell(unseen, 10 * minute).messages).toEqual([]);
    expect(unseen['key']?.isOn).toBe(true);
  });

  test('a clock that jumps back neither repeats nor loses anything', () => {
    const before = toTell(looked({}, [refused], 100 * minute), 100 * minute).conditions;
    const back = looked(before, [refused], 0);
    expect(toTell(back, 0).messages).toEqual([]);
    expect(toTell(looked(back, [], minute), 3 * minute).messages.map(({ title }) => title)).toEqual(['key ok']);
  });
});

describe('the state behind a heartbeat', () => {
  const kinds = new Set(['folder_away'] as const);

  test('a lasting problem, whether or not it could be reported, until its end was reported', () => {
    let conditions = looked({}, [away], 0);
    expect(lastsAny(conditions, kinds, minute - 1)).toBe(false);
    expect(lastsAny(conditions, kinds, minute)).toBe(true);
    expect(lastsAny(conditions, new Set(['key_refused'] as const), minute)).toBe(false);
    expect(lastsAny(looked(conditions, [], minute), kinds, 2 * minute)).toBe(false);
    conditions = toTell(conditions, minute).conditions;
    conditions = looked(conditions, [], 2 * minute);
    expect(lastsAny(conditions, kinds, 2 * minute)).toBe(true);
    expect(lastsAny(toTell(conditions, 3 * minute).conditions, kinds, 3 * minute)).toBe(false);
  });

  test('a clock that was set back makes nothing wait', () => {
    expect(lastsAny(looked({}, [away], 10 * minute), kinds, 0)).toBe(true);
  });
});

test('a telling from before a clock was set back neither counts nor holds up the next', () => {
  const before = toTell(looked({}, [refused], 100 * minute), 100 * minute).conditions;
  const over = looked(before, [], 10 * minute);
  const told = toTell(over, 12 * minute);
  expect(told.messages.map(({ title, of }) => [title, of])).toEqual([['key ok', 'key_refused']]);
  // What is over is remembered for an hour, by its latest telling, and then no more.
  expect(Object.keys(toTell(told.conditions, 71 * minute).conditions)).toEqual(['key']);
  expect(toTell(told.conditions, 72 * minute).conditions).toEqual({});
});

test('the end of an outage is no all-clear while the key is refused: the message says what still stops everything', () => {
  const outage = { ...away, cause: 'service', kind: 'paused' as const, title: 'no service', overTitle: 'service ok' };
  const begun = toTell(looked({}, [outage], 0), minute);
  const both = toTell(looked(begun.conditions, [refused], 2 * minute), 2 * minute);
  const over = toTell(both.conditions, 3 * minute);
  expect(over.messages.map(({ title, body }) => [title, body])).toEqual([['service ok', 'Still: key refused.']]);
  const fixed = toTell(looked(over.conditions, [], 4 * minute), 5 * minute);
  expect(fixed.messages.map(({ title, body }) => [title, body])).toEqual([['key ok', '']]);
});
