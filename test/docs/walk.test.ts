import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { functionsOf } from './functions.ts';
import { hopsBelow } from './walk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const hops = [...hopsBelow('Start'), ...hopsBelow('One file')];

describe('the walk of docs/design.md', () => {
  test('is numbered through', () => {
    expect(hops.length).toBeLessThanOrEqual(20);
    expect(hops.length).toBeGreaterThan(10);
    expect(hops.map(({ number }) => number)).toEqual(hops.map((_, index) => index + 1));
  });

  test('meets at most 18 files', () => {
    expect(new Set(hops.map(({ file }) => file)).size).toBeLessThanOrEqual(18);
  });

  test.each(hops)('$number: $file has $function', ({ file, function: name }) => {
    const source = readFileSync(`${root}/${file}`, 'utf8');
    expect(functionsOf(source, file).map((found) => found.name)).toContain(name);
  });
});

test('functions are found by the names that they have in the source', () => {
  const source = `
    export function plain(): void {}
    const arrow = (one: number): number => one;
    class Loop { #tick = () => 1; async run<T>(): Promise<T> { return []; } get size() { return 1; } }
    const made = { start: () => arrow(1), async stop() { [1].map((one) => one); } };
  `;
  const names = functionsOf(source, 'some.ts').map(({ name }) => name);
  expect(names).toEqual(['plain', 'arrow', '#tick', 'run', 'size', 'start', 'stop', '(closure)']);
});
