import { describe, expect, test } from 'vitest';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import { createJobs } from '../../../src/pipeline/rounds/jobs.ts';
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
