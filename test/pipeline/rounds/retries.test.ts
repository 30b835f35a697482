import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import { createRetries } from '../../../src/pipeline/rounds/retries.ts';
import { failure, someFacts } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const day = 86_400_000;

/** A file that waits for days, and another that begins to while the first is released. */
function open(code: string) {
  const clock = new TestClock();
  const waiting = (id: string): Facts =>
    someFacts({ id, notBefore: clock.now() + 2 * day, lastFailure: failure('suspended', { code }) });
  const rows = [waiting('f_1')];
  const released: string[] = [];
  let onRelease = (): void => undefined;
  let isBroken = false;
  const retries = createRetries({
    clock,
    retry: () => ({ attempts: 12, firstMs: 100, maxMs: 10 * day }),
    ringAt: () => undefined,
    store: {
      rows: async ({ dueBy }) => {
        if (isBroken) throw new Error('the ledger does not answer');
        return rows.filter(({ notBefore }) => (notBefore ?? 0) <= dueBy);
      },
    },
    release: async (id) => {
      rows.shift();
      released.push(id);
      onRelease();
    },
  });
  return {
    retries,
    released,
    whileReleased: (what: () => void): void => {
      onRelease = () => {
        onRelease = () => undefined;
        rows.push(waiting('f_2'));
        what();
      };
    },
    breaks: (is: boolean): void => void (isBroken = is),
  };
}

const reasons: [string, string, (retries: ReturnType<typeof createRetries>) => void][] = [
  ['the service', 'quota', (retries) => retries.serviceBack()],
  ['a folder', folderAway, (retries) => retries.folderBack('/inbox')],
];

describe.each(reasons)('%s that is back', (_what, code, back) => {
  test('again while files are released also releases files that waited in the meantime', async () => {
    const { retries, released, whileReleased } = open(code);
    whileReleased(() => back(retries));
    back(retries);
    await retries.run(false);
    expect(released).toEqual(['f_1']);
    await retries.run(false);
    expect(released).toEqual(['f_1', 'f_2']);
  });

  test('while the ledger cannot be read releases what waits once it can', async () => {
    const { retries, released, breaks } = open(code);
    back(retries);
    breaks(true);
    await expect(retries.run(false)).rejects.toThrow('does not answer');
    breaks(false);
    await retries.run(false);
    expect(released).toEqual(['f_1']);
  });
});
