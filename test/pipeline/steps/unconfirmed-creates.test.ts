import { expect, test } from 'vitest';
import { createUnconfirmedCreates } from '../../../src/pipeline/steps/unconfirmed-creates.ts';
import { silentLogger } from '../silent-logger.ts';
import { TestClock } from '../test-clock.ts';

const minute = 60_000;

/** Twenty create requests without an answer, so long ago. */
function mayRisk(agoMs: number, { isFleet = true, isHeldThere = false, isHeldHere = false } = {}): Promise<boolean> {
  const clock = new TestClock(100 * minute);
  const unanswered = Array.from({ length: 20 }, (_, n) => ({
    token: `t_${n}`,
    fileId: `f_${n}`,
    title: '',
    at: clock.now() - agoMs,
  }));
  return createUnconfirmedCreates({
    store: { unanswered: async () => unanswered },
    rows: { isHeld: () => isHeldHere },
    elsewhere: isFleet ? { isHeld: () => isHeldThere } : null,
    clock,
    logger: silentLogger,
  }).mayRisk();
}

test.each([
  ['that may still get its answer here', minute, { isHeldHere: true }, true],
  ['that another host waits for', minute, { isHeldThere: true }, true],
  ['that another host may have begun a moment ago', 5_000, {}, true],
  ['without a waiter', minute, {}, false],
  ['of a moment ago, on a single host', 5_000, { isFleet: false }, false],
])('twenty create requests %s: whether one more is risked', async (_, agoMs, who, expected) => {
  expect(await mayRisk(agoMs, who)).toBe(expected);
});
