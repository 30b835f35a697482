import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { findOlderNode, needs } from '../../support/needs.ts';
import { inherited } from '../../support/inherited.ts';
import { node } from '../../e2e/dropcast-process.ts';

const command = join(import.meta.dirname, '../../../packages/sandbox/bin/dropcast-sandbox.cjs');

async function run(args: readonly string[], runtime = node) {
  const child = spawn(runtime, [command, ...args], { env: inherited(), stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: Number(code) };
}

test.concurrent('dropcast-sandbox has the options of `dropcast sandbox`, and its keys', async () => {
  const { stdout, code } = await run(['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: dropcast-sandbox /);
  for (const part of ['--port <number>', '--profile <name>', 'keys']) expect(stdout).toContain(part);
});

test.concurrent.each([
  ['an unknown option', ['--nope'], "error: unknown option '--nope'"],
  ['a wrong value', ['--host', '127.0.0.1:80'], '--host: must be a name or an address without a port\n'],
  ['keys of no sandbox', ['keys', 'list'], 'which sandbox? Pass --data DIR'],
])('%s is said in a sentence, with exit code 2', async (_, args, said) => {
  const { stderr, code } = await run(args);
  expect(stderr.startsWith(said)).toBe(true);
  expect(code).toBe(2);
});

test.concurrent('an older Node reports which one is needed', needs('older Node'), async () => {
  const { stderr, code } = await run([], findOlderNode() ?? '');
  expect(stderr).toMatch(/^dropcast-sandbox needs Node 22\.16 or newer\. This is Node \d+\.\d+\.\d+\.\n$/);
  expect(code).toBe(1);
});
