import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { node } from '../../e2e/dropcast-process.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import { writeConfig } from '../../support/configuration.ts';
import { inherited } from '../../support/inherited.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { launchAgent } from './launch-agent.ts';

const clip = join(import.meta.dirname, '../../media/clip.mp4');
const claim = `--import=${pathToFileURL(join(import.meta.dirname, 'no-linux.mjs')).href}`;

/** Runs a command where /proc is empty. */
const withoutProc = [
  'unshare',
  '--mount',
  '--propagation',
  'private',
  'sh',
  '-c',
  'mount -t tmpfs none /proc; exec "$@"',
  'sh',
];

/** A process of a user at home, which believes to run on macOS. */
function start(home: string, command: readonly string[]) {
  const [program = '', ...args] = [...withoutProc, ...command];
  const child = spawn(program, args, {
    env: { ...inherited(), HOME: home, NODE_OPTIONS: claim, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said.text += String(part)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said: said.text }));
  return {
    said,
    ended,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

describe('on a machine that claims to be a Mac and has no /proc', needs('mount'), () => {
  test.each(['auto', 'polling'] as const)('`once` uploads and moves the files (watch: %s)', async (watch) => {
    await using host = await startVideoHost();
    await using scratch = await scratchDirectory();
    const service = { base_url: host.baseUrl, api_key: host.key };
    const folders = [{ watch, after_ready: { move: 'done' } }];
    const config = await writeConfig(scratch, { service, folders });
    await mkdir(scratch.file('inbox'));
    for (const name of ['clip.mp4', 'Überblick.mp4'])
      await writeFile(scratch.file('inbox', name), Buffer.concat([await readFile(clip), Buffer.from(name)]));
    const { code, said } = await start(scratch.path, [node, inject('program'), 'once', '--config', config]).ended;
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(said).not.toContain('/proc');
    for (const name of ['clip.mp4', 'Überblick.mp4']) await readFile(scratch.file('inbox/done', name));
    expect([...host.videos.values()].map(({ status, bodies }) => [status, bodies.length])).toEqual([
      ['ready', 1],
      ['ready', 1],
    ]);
  });

  test('the launch agent runs the program, uploads what appears, logs to the home, and ends on SIGTERM', async () => {
    await using host = await startVideoHost();
    await using scratch = await scratchDirectory();
    for (const name of ['Library/Logs', '.config/dropcast', 'inbox'])
      await mkdir(scratch.file(name), { recursive: true });
    const launcher = await scratch.write('dropcast', `#!/bin/sh\nexec ${node} ${inject('program')} "$@"\n`);
    const service = { base_url: host.baseUrl, api_key: host.key };
    const folders = [{ path: scratch.file('inbox'), watch: 'polling' as const }];
    await writeConfig(scratch, { service, folders }, '.config/dropcast/dropcast.yaml');
    const { ProgramArguments } = await launchAgent();
    const command = (ProgramArguments as readonly string[]).map((word) =>
      word.replace('exec /usr/local/bin/dropcast', `exec sh ${launcher}`),
    );
    const agent = start(scratch.path, command);
    const log = (): Promise<string> => readFile(scratch.file('Library/Logs/dropcast.log'), 'utf8').catch(() => '');
    await until('the folder is watched', async () => /watch/i.test(await log()), { seen: () => agent.said });
    await copyFile(clip, scratch.file('inbox/clip.mp4'));
    await until('the video is ready', () => [...host.videos.values()].some(({ status }) => status === 'ready'));
    const { code } = await agent.stop();
    expect({ code, log: await log() }).toMatchObject({ code: 0 });
  });
});
