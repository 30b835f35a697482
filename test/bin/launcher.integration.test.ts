import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const launcher = join(import.meta.dirname, '../../bin/dropcast.cjs');

/** For a process that claims to be another Node on another platform. */
function claiming(version: string, platform: string, args: readonly string[]): string[] {
  const claim = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
    Object.defineProperty(process, 'platform', { value: '${platform}' });
    process.argv.splice(1, 0, ${JSON.stringify(launcher)});
    require(${JSON.stringify(launcher)});`;
  return ['-e', claim, '--', ...args];
}

function launch(version: string, platform: string = process.platform) {
  return spawnSync(process.execPath, claiming(version, platform, ['--version']), { encoding: 'utf8' });
}

test('an old Node without a bundled runtime is one sentence, not a syntax error', () => {
  const { status, stderr, stdout } = launch('20.20.2', 'plan9');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  for (const fact of ['24.15', '20.20.2', `plan9-${process.arch}`, 'Install Node 26']) expect(stderr).toContain(fact);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('an old Node with a bundled runtime starts that', () => {
  expect(launch('20.20.2')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test('a Node that is new enough runs dropcast itself', () => {
  expect(launch('24.15.0')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s to the launcher alone ends what it started', async (signal) => {
  const args = claiming('20.20.2', process.platform, ['sandbox', '--port', '0']);
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(started.stdout, 'data');
  started.kill(signal);
  expect(await once(started, 'exit')).toEqual([0, null]);
});
