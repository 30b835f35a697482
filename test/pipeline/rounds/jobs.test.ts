import { describe, expect, test } from 'vitest';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import { createJobs, sideBySide } from '../../../src/pipeline/rounds/jobs.ts';
import { TestClock } from '../test-clock.ts';

describe('a job', () => {
  test('runs once at a time', async () => {
    const jobs = createJobs(new TestClock(), () => undefined);
    const end = Promise.withResolvers<void>();
    let runs = 0;
    const job = async (): Promise<void> => {
      runs += 1;
      await end.promise;
    };
    jobs.start('sweep', job);
    jobs.start('sweep', job);
    jobs.start('publish', job);
    expect(runs).toBe(2);
    end.resolve();
    await jobs.finished();
    jobs.start('sweep', job);
    expect(runs).toBe(3);
  });

  test('that broke is reported, and waits half a minute', async () => {
    const clock = new TestClock();
    const broke: string[] = [];
    const jobs = createJobs(clock, (name, error) => broke.push(`${name}: ${String(error)}`));
    const job = (): Promise<void> => Promise.reject(new Error('boom'));
    for (let second = 0; second <= 30; second += 1) {
      jobs.start('sweep', job);
      await jobs.finished();
      clock.advance(1_000);
    }
    expect(broke).toEqual(['sweep: Error: boom', 'sweep: Error: boom']);
  });

  test.each([
    ['away', 31],
    ['disk full', 2],
  ] as const)('that broke because of the ledger (%s) is tried %i times in half a minute', async (reason, times) => {
    const clock = new TestClock();
    let runs = 0;
    const jobs = createJobs(clock, () => (runs += 1));
    const job = (): Promise<void> => Promise.reject(new LedgerUnavailableError(reason));
    for (let second = 0; second <= 30; second += 1) {
      jobs.start('sweep', job);
      await jobs.finished();
      clock.advance(1_000);
    }
    expect(runs).toBe(times);
  });
});

const numbers = Array.from({ length: 120 }, (_, n) => n);

test('some are worked on at the same time, all in their order, and at most 50', async () => {
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const doubled = await sideBySide(numbers, async (n) => {
    begun.push(n);
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return 2 * n;
  });
  expect(begun).toEqual(numbers);
  expect(doubled).toEqual(numbers.map((n) => 2 * n));
  expect(most).toBe(50);
});

test('after one that fails nothing is begun, and the others in progress end first', async () => {
  const ended: number[] = [];
  const work = async (n: number): Promise<void> => {
    if (n === 60) throw new Error(`${n} is broken`);
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(n);
  };
  await expect(sideBySide(numbers, work)).rejects.toThrow('60 is broken');
  expect(ended).toEqual(numbers.slice(0, 100).filter((n) => n !== 60));
});
