import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { importFigures } from '../../scripts/measure/imports.ts';
import { typeFigures } from '../../scripts/measure/largest-types.ts';
import { lineFigures } from '../../scripts/measure/lines.ts';
import { compared, highest } from '../../scripts/measure/measure.ts';
import type { Figure } from '../../scripts/measure/measure.ts';
import { callsIn } from '../../scripts/measure/trace.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A made-up checkout. */
async function checkout(files: Readonly<Record<string, string>>): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(scratch.file(path)), { recursive: true });
    await writeFile(scratch.file(path), text);
  }
  return scratch;
}

/** `of` → `what` → value. */
function nested(figures: readonly Figure[]): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const entries = [...Map.groupBy(figures, ({ of }) => of)];
  return Object.fromEntries(
    entries.map(([of, its]) => [of, Object.fromEntries(its.map(({ what, value }) => [what, value]))]),
  );
}

test('code, comments, imports and blank lines are counted apart, for src, each folder, each package and the tests', async () => {
  await using tree = await checkout({
    'src/main.ts': '// Starts it.\nmain();\n',
    'src/cli/run.ts': [
      'import {',
      '  one, // behind an import',
      "} from './one.ts';",
      "export type { Two } from './two.ts';",
      '',
      '/**',
      ' * A comment.',
      ' *',
      ' */',
      'export const text = `',
      '// not a comment',
      '`; // behind code',
      '',
    ].join('\n'),
    'packages/client/src/index.ts': 'export const url = "http://host";\n',
    'test/cli/run.test.ts': '\n\n',
  });
  expect(nested(lineFigures(tree.path))).toEqual({
    src: { files: 2, lines: 14, code: 4, comments: 5, imports: 4, blank: 1 },
    'src/cli': { files: 1, lines: 12, code: 3, comments: 4, imports: 4, blank: 1 },
    'packages/client': { files: 1, lines: 1, code: 1, comments: 0, imports: 0, blank: 0 },
    test: { files: 1, lines: 2, code: 0, comments: 0, imports: 0, blank: 2 },
  });
});

test('circles are found through types and re-exports, and files outside the fleet that import from it', async () => {
  await using tree = await checkout({
    'src/a.ts': "import type { B } from './b.ts';\nimport { join } from 'node:path';",
    'src/b.ts': "export type { C } from './deep/c.ts';",
    'src/deep/c.ts': "import { a } from '../a.ts';\nimport '../leaf.ts';",
    'src/leaf.ts': '',
    'src/above.ts': "import { a } from './a.ts';\nimport type { Host } from './fleet/host.ts';",
    'src/fleet/host.ts': "import { name } from './name.ts';",
    'src/fleet/name.ts': "import type { Host } from './host.ts';",
  });
  expect(nested(importFigures(tree.path))).toEqual({
    'circles of imports, with types': { count: 2 },
    'files in circles': { count: 5 },
    'imports within circles': { count: 5 },
    'files outside src/fleet that import from it': { count: 1 },
  });
});

test('the members of a type include nested ones and those of the types that it extends', async () => {
  await using tree = await checkout({
    'src/base.ts': 'export interface Base { one: 1; two(): void; [key: string]: unknown }',
    'src/types.ts': [
      "import type { Base as Below } from './base.ts';",
      'interface Small { a: 1 }',
      'export interface Large extends Below, Small { b: { c: 1; d: 1 } }',
      'export type Both = Small & { e: 1; f: () => { g: 1 } };',
      "type Word = 'one' | 'two';",
    ].join('\n'),
    'src/other.ts': 'interface Small { h: 1; i: 1 }',
    'packages/client/src/wire.gen.ts': 'export interface Generated { a: 1 }',
  });
  expect(typeFigures(tree.path).map(({ of, value }) => [of, value])).toEqual([
    ['Large', 7],
    ['Both', 4],
    ['Base', 3],
    ['Small', 2],
  ]);
});

test('of a trace, the functions that began count, and a function that only has one that calls is a leaf', async () => {
  const text =
    'const f = () => [g()];\nconst g = () => 1;\nconst h = () => { const i = () => new f(); };\nconst j = () => f();';
  await using tree = await checkout({ 'src/one.ts': text });
  const ranges = ['() => [g()]', '() => 1', '() => { const i = () => new f(); }', '() => new f()', '() => f()'];
  const range = (part: string, count: number) => {
    const startOffset = text.indexOf(part);
    const only = { startOffset, endOffset: startOffset + part.length, count };
    return { functionName: '', ranges: [only], isBlockCoverage: false };
  };
  const functions = [
    { functionName: '', ranges: [{ startOffset: 0, endOffset: text.length, count: 1 }], isBlockCoverage: false },
    ...ranges.map((part, index) => range(part, index === 4 ? 5_000 : index)),
  ];
  const script = { scriptId: '1', url: pathToFileURL(tree.file('src/one.ts')).href, functions };
  const other = { ...script, url: 'file:///elsewhere/src/one.ts' };
  expect(callsIn([script, other], tree.path)).toEqual([
    { file: 'src/one.ts', count: 1, isLeaf: true },
    { file: 'src/one.ts', count: 2, isLeaf: true },
    { file: 'src/one.ts', count: 3, isLeaf: false },
    { file: 'src/one.ts', count: 100, isLeaf: false },
  ]);
});

test('two checkouts are compared figure by figure, and a row stays that is among the highest of either', () => {
  const figure = (of: string, value: number): Figure => ({ of, what: 'members', value });
  const both = compared([figure('A', 9), figure('B', 3), figure('C', 2)], [figure('B', 8), figure('D', 1)]);
  expect(both).toEqual([
    { of: 'A', what: 'members', value: 9, against: null },
    { of: 'B', what: 'members', value: 3, against: 8 },
    { of: 'C', what: 'members', value: 2, against: null },
    { of: 'D', what: 'members', value: null, against: 1 },
  ]);
  expect(highest(both, 1).map(({ of }) => of)).toEqual(['A', 'B']);
});

test('this checkout has all figures', async () => {
  const args = ['scripts/measure.ts', '--fast', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 2 ** 24 });
  const { figures } = JSON.parse(stdout) as { readonly figures: Readonly<Record<string, readonly Figure[]>> };
  expect(Object.keys(figures)).toEqual(['lines', 'types', 'imports', 'trace']);
  const { lines = [], types = [], imports = [], trace = [] } = figures;
  expect(Object.keys(nested(lines))).toEqual(expect.arrayContaining(['src', 'src/cli', 'packages/client', 'test']));
  expect(types).toHaveLength(12);
  expect(imports).toHaveLength(4);
  expect(trace).toHaveLength(6);
  expect(trace.filter(({ value }) => !(value > 0))).toEqual([]);
});
