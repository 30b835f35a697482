import { expect, test } from 'vitest';
import { barChart } from '@dropcast/pages';

const chartOf = async (...views: number[]): Promise<string> => {
  const bars = views.map((count, index) => ({ name: `2026-01-0${index + 1}`, count }));
  return (await barChart(bars, { label: 'Views per day', per: 'Day', unit: 'view' })).toString();
};
const heightsIn = (chart: string) =>
  [...chart.matchAll(/<rect\s[^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));

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

test('what failed is the upper part of its bar, and is in the table and in the words', async () => {
  const bars = [
    { name: '13:00', count: 10, failed: 4 },
    { name: '14:00', count: 5, failed: 0 },
  ];
  const chart = String(await barChart(bars, { label: 'Files per hour', per: 'Hour', unit: 'file' }));
  expect(heightsIn(chart)).toEqual([60, 40, 50]);
  expect(chart).toContain('13:00: 10 files, 4 failed');
  expect(chart).toContain('15 files, 4 of them failed, most on 13:00 with 10');
  expect(chart.replaceAll(/\s+/g, ' ')).toMatch(/13:00<\/th><td[^>]*>10<\/td><td[^>]*>4<\/td>/);
});
