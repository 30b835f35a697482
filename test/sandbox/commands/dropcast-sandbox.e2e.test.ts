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

const printed = 'const { DROPCAST_BASE_URL: url, DROPCAST_API_KEY: key } = process.env; console.log(url, key);';
const asks = `fetch(process.env.DROPCAST_BASE_URL + '/channels', {
  headers: { authorization: 'Bearer ' + process.env.DROPCAST_API_KEY },
}).then(({ status }) => (process.exitCode = status === 200 ? 7 : 1))`;

test.concurrent('run: the command finds the sandbox, which is gone after it', async () => {
  const { stdout, stderr, code } = await run(['run', '--seed', '1', '--', node, '--eval', printed]);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1 sk_sandbox_57bcjgd20fqtvtgpzy57k681vvt97met\n$/);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  await expect(fetch(stdout.split(' ')[0] ?? '')).rejects.toThrow('fetch failed');
});

test.concurrent.each([
  ['the exit code of the command', [node, '--eval', asks], 7],
  ['over https', ['--tls', node, '--eval', asks], 7],
  ['128 and the signal that ended it', ['sh', '-c', 'kill -9 $$'], 137],
])('run: %s', async (_, args, expected) => {
  expect(await run(['run', ...args])).toEqual({ stdout: '', stderr: '', code: expected });
});

test.concurrent('run: a program that is not there is named', async () => {
  const { stderr, code } = await run(['run', 'no-such-program']);
  expect({ stderr, code }).toEqual({ stderr: 'there is no program no-such-program on the PATH\n', code: 127 });
});

test.concurrent('run: a signal that stops it reaches the command', async () => {
  const waits = "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('waits')";
  const child = spawn(node, [command, 'run', node, '--eval', waits], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([5, null]);
});

test.concurrent('an older Node reports which one is needed', needs('older Node'), async () => {
  const { stderr, code } = await run([], findOlderNode() ?? '');
  expect(stderr).toMatch(/^dropcast-sandbox needs Node 22\.16 or newer\. This is Node \d+\.\d+\.\d+\.\n$/);
  expect(code).toBe(1);
});
