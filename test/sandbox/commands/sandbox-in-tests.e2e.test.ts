import { execFile } from 'node:child_process';
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { inherited } from '../../support/inherited.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { node } from '../../e2e/dropcast-process.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** The examples of docs/sandbox.md, by the file name in their first line. */
const examples = new Map<string, string>();

beforeAll(async () => {
  const page = await readFile(join(root, 'docs/sandbox.md'), 'utf8');
  for (const [, name = '', code = ''] of page.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm)) examples.set(name, code);
});

/** A program with tests of its own. */
async function project(files: Readonly<Record<string, string>>): Promise<ScratchDirectory> {
  const folder = await scratchDirectory();
  await symlink(join(root, 'node_modules'), folder.file('node_modules'));
  await copyFile(join(root, 'test/media/clip.mp4'), folder.file('clip.mp4'));
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files }))
    await writeFile(folder.file(name), text);
  return folder;
}

const examplesNamed = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, examples.get(name) ?? `throw new Error('no ${name} on the page')`]));

const within = (folder: ScratchDirectory, ...args: readonly string[]) =>
  run(node, args, { cwd: folder.path, env: { ...inherited(), NO_COLOR: '1' } }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
const vitest = join(root, 'node_modules/vitest/vitest.mjs');

test('the example of the page passes in Vitest, and leaves nothing running', async () => {
  await using folder = await project(examplesNamed('with-sandbox.ts', 'upload.test.ts'));
  const { stdout } = await within(folder, vitest, 'run', '--reporter=default');
  expect(stdout).toMatch(/Tests +2 passed \(2\)/);
});

test('the examples have no type errors', async () => {
  const tsconfig = { extends: join(root, 'tsconfig.json'), include: ['*.ts'], compilerOptions: { types: ['node'] } };
  await using folder = await project({ ...Object.fromEntries(examples), 'tsconfig.json': JSON.stringify(tsconfig) });
  const { stdout } = await within(folder, join(root, 'node_modules/typescript/bin/tsc'), '--noEmit');
  expect(stdout).toBe('');
});

test('files of one worker share a sandbox, and every test finds it as new', async () => {
  const file = `
    import { expect } from 'vitest';
    import { test } from './with-sandbox.ts';
    for (const name of ['one', 'two']) test(name, async ({ sandbox }) => {
      expect([sandbox.requests(), sandbox.files()]).toEqual([[], []]);
      const headers = { Authorization: 'Bearer ' + sandbox.apiKey, 'Content-Type': 'application/json' };
      const answer = await fetch(sandbox.baseUrl + '/videos', { method: 'POST', headers, body: '{"title":"T"}' });
      console.log('made', sandbox.port, (await answer.json()).id);
      sandbox.advance(3_600_000);
    });
    test('none is started for it', () => {});`;
  await using folder = await project({ ...examplesNamed('with-sandbox.ts'), 'a.test.js': file, 'b.test.js': file });
  const flags = ['--reporter=dot', '--no-isolate', '--maxWorkers=1', '--disable-console-intercept'];
  const { stdout } = await within(folder, vitest, 'run', ...flags);
  const made = [...stdout.matchAll(/made (\d+) (\S+)/g)].map(([, port, id]) => ({ port, id }));
  expect(made, stdout).toHaveLength(4);
  expect(new Set(made.map(({ port }) => port)).size).toBe(1);
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
});

test('the example for any runner passes in that of Node', async () => {
  await using folder = await project(examplesNamed('channels.test.ts'));
  const { stdout } = await within(folder, '--test', '--test-reporter=tap', 'channels.test.ts');
  expect(stdout).toMatch(/^# pass 1$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
