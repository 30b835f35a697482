import { describe, expect, test } from 'vitest';
import { createAlarm, createJobs } from '../../src/pipeline/alarm.ts';
import { TestClock } from './test-clock.ts';

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
    await jobs.settled();
    jobs.start('sweep', job);
    expect(runs).toBe(3);
  });

  test('that broke is told, and rests half a minute', async () => {
    const clock = new TestClock();
    const broke: string[] = [];
    const jobs = createJobs(clock, (name, error) => broke.push(`${name}: ${String(error)}`));
    const job = (): Promise<void> => Promise.reject(new Error('boom'));
    for (let second = 0; second <= 30; second += 1) {
      jobs.start('sweep', job);
      await jobs.settled();
      clock.advance(1_000);
    }
    expect(broke).toEqual(['sweep: Error: boom', 'sweep: Error: boom']);
  });
});

describe('the alarm', () => {
  test('wakes who sleeps', async () => {
    const alarm = createAlarm();
    const slept = alarm.wait(3_600_000);
    alarm.ring();
    await slept;
  });

  test('that rang before is not missed, and rings once', async () => {
    const alarm = createAlarm();
    alarm.ring();
    await alarm.wait(3_600_000);
    const startedAt = performance.now();
    await alarm.wait(20);
    expect(performance.now() - startedAt).toBeGreaterThan(15);
  });

  test('lets the event loop have its turn even when it never stops ringing', async () => {
    const alarm = createAlarm();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const startedAt = performance.now();
    while (performance.now() - startedAt < 20) {
      alarm.ring();
      await alarm.wait(3_600_000);
    }
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });
});
