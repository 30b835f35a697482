import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { pageDeeds } from './page-deeds.ts';
import { steps } from './three-days.ts';

const page = await readFile(new URL('../../docs/desk.md', import.meta.url), 'utf8');
const [, , ...rows] = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('the table of daily jobs has the commands of the three days, and the presses that the page needs', () => {
  const commands = steps.flatMap(({ job, does }) => (job === undefined ? [] : [[job, does] as const]));
  const expected = commands.map(([job, does]) => {
    const onPage = pageDeeds[job];
    return [job, `\`${String(does)}\``, onPage?.view ?? 'no', String(onPage?.presses ?? '')];
  });
  expect(rows).toHaveLength(expected.length);
  expect(new Set(rows.map(String))).toEqual(new Set(expected.map(String)));
});

test('every job of the page is one of them', () => {
  const known = new Set(steps.map(({ job }) => job));
  expect(Object.keys(pageDeeds).filter((job) => !known.has(job))).toEqual([]);
});
