import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { powerBugs } from './kill/power-bugs.ts';
import { bugs, durabilityBugs } from './planted/bugs.ts';
import { scenarios } from './planted/scenarios.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reliability.md'), 'utf8');
const failures = '## Where watch folders fail';

describe('docs/reliability.md', () => {
  test('lists every planted bug, and who catches it', () => {
    const planted = Object.entries(bugs).map(([name, { scenario, caughtBy }]) => [name, scenario, caughtBy]);
    const order = Object.keys(durabilityBugs).map((name) => [name, 'one file is uploaded', 'order of calls']);
    const power = Object.entries(powerBugs).map(([name, { workload, caughtBy }]) => [
      name,
      workload === undefined ? 'one file is uploaded' : 'three files are listed in exports',
      caughtBy,
    ]);
    expect(rowsBelow('## Planted bugs')).toEqual([...planted, ...order, ...power]);
  });

  test('names a test for every scenario', () => {
    const named = rowsBelow('## Edges and their tests').map(([, place]) => place);
    for (const name of Object.keys(scenarios)) expect(named).toContain(`planted.e2e.test.ts: ${name}`);
  });

  test('has a test for each of the thirteen ways in which watch folders fail', () => {
    expect(rowsBelow(failures)).toHaveLength(13);
  });

  const rows = [...rowsBelow('## Edges and their tests'), ...rowsBelow(failures)];
  test.for(rows)('the test of "%s" exists', (row) => {
    const place = row.at(-1) ?? '';
    const [file = '', name = ''] = place.split(/: (.*)/);
    const text = readFileSync(join(root, file.includes('/') ? file : `test/reliability/planted/${file}`), 'utf8');
    const isScenario = file === 'planted.e2e.test.ts' && name in scenarios;
    expect(isScenario || text.replaceAll(/\\(?=['"`])/g, '').includes(name), place).toBe(true);
  });
});

/** The cells of the table below a heading. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
