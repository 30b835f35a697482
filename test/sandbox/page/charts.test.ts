import { expect, test } from 'vitest';
import { dailyChart } from '../../../packages/sandbox/src/page/charts.ts';

const chartOf = async (...views: number[]): Promise<string> => {
  const days = views.map((views, index) => ({ date: `2026-01-0${index + 1}`, views }));
  return (await dailyChart(days, 'Views per day')).toString();
};
const heightsIn = (chart: string) =>
  [...chart.matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));

test('the bars are as high as the days have views, below a round number', async () => {
  expect(heightsIn(await chartOf(0, 50, 100))).toEqual([0, 50, 100]);
  expect(heightsIn(await chartOf(30, 110))).toEqual([15, 55]);
});

test('a time without views has no bars, and nothing is divided by zero', async () => {
  expect(heightsIn(await chartOf(0, 0))).toEqual([0, 0]);
});

test('describes in words what it shows, and has every number in a table', async () => {
  const chart = await chartOf(3, 1200);
  expect(chart).toContain(
    'aria-label="Views per day from 2026-01-01 to 2026-01-02: 1,203 views, most on 2026-01-02 with 1,200"',
  );
  expect(chart.replaceAll(/\s+/g, ' ')).toMatch(/<th scope="row"[^>]*>2026-01-02<\/th><td[^>]*>1,200<\/td>/);
});
