import { describe, expect, test } from 'vitest';
import { verdict } from '../../../src/daemon/expectations/expectations.ts';
import type { Counted } from '../../../src/daemon/expectations/expectations.ts';
import type { ExpectationState } from '../../../src/pipeline/expectation.ts';

const by = 100;
const file = (arrivedAt: number, liveAt: number | null = null): Counted => ({ arrivedAt, liveAt });

describe('how it stands with what is expected', () => {
  test.each<
    [string, { count?: number; until?: 'live' | 'arrived'; graceMs?: number }, Counted[], number, ExpectationState]
  >([
    ['nothing yet, in time', {}, [], 50, 'expected'],
    ['at the very minute there is still time', {}, [], 100, 'expected'],
    ['nothing, and the time is over', {}, [], 101, 'missing'],
    ['nothing, in the grace', { graceMs: 10 }, [], 110, 'expected'],
    ['nothing after the grace', { graceMs: 10 }, [], 111, 'missing'],
    ['there, and not live yet', {}, [file(50)], 60, 'arrived'],
    ['live in time', {}, [file(50, 70)], 80, 'live'],
    ['live at the very minute', {}, [file(50, 100)], 101, 'live'],
    ['live in time, seen afterwards', {}, [file(50, 70)], 500, 'live'],
    ['there in time, not live in time', {}, [file(50)], 101, 'late'],
    ['there in time, live afterwards', {}, [file(50, 120)], 130, 'recovered'],
    ['there too late', {}, [file(120)], 130, 'late'],
    ['there and live too late', {}, [file(120, 125)], 130, 'recovered'],
    ['arrived is enough', { until: 'arrived' }, [file(50)], 130, 'arrived'],
    ['arrived is enough, and it is live', { until: 'arrived' }, [file(50, 120)], 130, 'live'],
    ['arrived too late, which is enough now', { until: 'arrived' }, [file(120)], 130, 'recovered'],
    ['one of two', { count: 2 }, [file(50, 60)], 101, 'missing'],
    ['two of two', { count: 2 }, [file(50, 60), file(51, 99)], 101, 'live'],
    ['two of two, one too late', { count: 2 }, [file(50, 60), file(110)], 120, 'late'],
    ['more than expected', {}, [file(50, 60), file(110)], 120, 'live'],
  ])('%s', (_, more, files, now, state) => {
    expect(verdict({ count: 1, until: 'live', graceMs: 0, ...more }, { by }, files, now)).toBe(state);
  });
});
