import { describe, expect, test } from 'vitest';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';
import { isDue, isMatch } from '../../../packages/sandbox/src/faults/faults.ts';

const rule = (fields: object) => faultRule.parse({ kind: 'html_502', ...fields });

/** Which of the first ten calls are hit, with a draw of 0 each. */
function hits(fields: object): number[] {
  const hit: number[] = [];
  for (let call = 1; call <= 10; call += 1)
    if (isDue(rule(fields), call, { applied: hit.length, draw: 0 })) hit.push(call);
  return hit;
}

describe('isDue', () => {
  test.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ times: 2 }, [1, 2]],
    [{ nth: 3 }, [3]],
    [{ nth: 3, times: 2 }, [3, 4]],
    [{ nth: 9, times: 100 }, [9, 10]],
  ])('%j hits the calls %j', (fields, calls) => expect(hits(fields)).toEqual(calls));

  test('a probability hits where the draw is below it, and counts the hits against times', () => {
    const half = rule({ probability: 0.5, times: 1 });
    expect(isDue(half, 1, { applied: 0, draw: 0.5 })).toBe(false);
    expect(isDue(half, 2, { applied: 0, draw: 0.49 })).toBe(true);
    expect(isDue(half, 3, { applied: 1, draw: 0 })).toBe(false);
  });
});

describe('isMatch', () => {
  const call = { operation: 'videos.get', videoId: 'vid_1', channelId: 'ch_news' };
  test.each([
    [{}, true],
    [{ operation: 'videos.get' }, true],
    [{ operation: 'videos.list' }, false],
    [{ video_id: 'vid_1' }, true],
    [{ video_id: 'vid_2' }, false],
    [{ channel_id: 'ch_news', video_id: 'vid_1' }, true],
    [{ channel_id: 'ch_main', video_id: 'vid_1' }, false],
  ])('%j: %s', (fields, expected) => expect(isMatch(rule(fields), call)).toBe(expected));
});
