import { expect, test } from 'vitest';
import type { Bench, Build } from '../../bench/bench.ts';
import { isReached, limitOf, measure } from '../../bench/measure.ts';
import { plotSvg } from '../../bench/plot.ts';
import { tableOf } from '../../bench/table.ts';

const here: Build = { name: 'here', root: '/here', node: 'node', plainNode: 'node', program: 'main.js' };
const other: Build = { name: 'v1', root: '/v1', node: 'node', plainNode: 'node', program: 'main.js' };

function benchOf(values: Record<string, readonly number[]>): Bench & { readonly order: readonly string[] } {
  const order: string[] = [];
  const left = new Map([here, other].map(({ name }) => [name, [...(values[name] ?? [])]]));
  return {
    about: 'A benchmark.',
    rounds: 3,
    rows: { ratio: { what: 'speed', unit: '×', least: 0.9 }, rest: { what: 'rest', unit: 's' } },
    order,
    round: ({ name }) => {
      order.push(name);
      const ratio = left.get(name)?.shift() ?? Number.NaN;
      return Promise.resolve({ values: { ratio }, series: { [name]: [[order.length, ratio]] } });
    },
  };
}

const run = (bench: Bench, builds: readonly [Build, Build?]) =>
  measure('sample', bench, { builds, size: 'full', rounds: 3, progress: () => undefined });

test('the figure is the median of the rounds, with its range, next to its target', async () => {
  const result = await run(benchOf({ here: [1, 0.5, 0.95] }), [here]);
  expect(tableOf(result)[1]).toEqual(['speed', '0.95 ×', '0.5 – 1', '≥ 0.9 ×', 'reached']);
});

test('a row that no round measured says so, and reaches no target', async () => {
  const result = await run(benchOf({ here: [1, 1, 1] }), [here]);
  expect(tableOf(result)[2]?.[1]).toBe('not measured');
  expect(result.rows.map(isReached)).toEqual([true, null]);
});

test.each([
  ['of syncs', 0.5, 'of syncs'],
  [undefined, 0.5, 'Not known yet.'],
  ['of syncs', 1, null],
])(
  'a missed target says what the limit is made of, or that it is not known yet: %s, %s',
  async (limit, ratio, said) => {
    const bench = { ...benchOf({ here: [ratio, ratio, ratio] }), ...(limit !== undefined && { limit }) };
    expect(limitOf(await run(bench, [here]))).toBe(said);
  },
);

test('a target just missed is missed', async () => {
  const [row] = (await run(benchOf({ here: [0.89, 0.89, 0.89] }), [here])).rows;
  expect(row && isReached(row)).toBe(false);
});

test('two commits are measured in turn, first the one, then the other', async () => {
  const bench = benchOf({ here: [1, 1, 1], v1: [2, 2, 2] });
  const result = await run(bench, [here, other]);
  expect(bench.order).toEqual(['here', 'v1', 'v1', 'here', 'here', 'v1']);
  expect(tableOf(result)[0]?.slice(-2)).toEqual(['v1', 'change']);
  expect(tableOf(result)[1]?.slice(-2)).toEqual(['2 ×', '× 0.5']);
});

test('a plot is an SVG that stands alone and names its series', () => {
  const svg = plotSvg({
    title: 'CPU',
    x: 'files',
    y: 'ms',
    isLogX: true,
    series: {
      here: [
        [1_000, 5],
        [10_000, 6],
      ],
    },
  });
  expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"');
  expect(svg).toContain('>here<');
});
