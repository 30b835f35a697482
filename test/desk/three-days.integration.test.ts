import { beforeAll, expect, test } from 'vitest';
import type { Report } from './play.ts';
import { threeDays } from './played.ts';
import { nameOf } from './step.ts';
import { steps } from './three-days.ts';

let reports: readonly Report[];

beforeAll(async () => {
  reports = await threeDays();
});

test.each(steps.map((step, index) => [nameOf(step), index] as const))('%s', (_name, index) => {
  const report = reports[index];
  expect(report?.missed, `${report?.answer?.out}${report?.answer?.err}`).toEqual([]);
});

test('every daily job is one command', () => {
  const jobs = steps.filter(({ job }) => job !== undefined);
  expect(jobs.map(({ does }) => typeof does)).toEqual(jobs.map(() => 'string'));
});
