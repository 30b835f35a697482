import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@dropcast/sandbox';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { StatusView } from '../../src/daemon/view.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The calls that a daemon made, in order, each as `FILE FUNCTION`. */
export interface Trace {
  /** From the start of the process until it waits for files. */
  readonly starting: readonly string[];
  /** From the moment a file is dropped until it is put away and the process has ended. */
  readonly working: readonly string[];
}

/** Runs a daemon against the sandbox, drops one file for one feed into its empty folder, and records every call. */
export async function traceOneFile(): Promise<Trace> {
  await using scratch = await scratchDirectory();
  await using sandbox = await startSandbox({ processingMs: { min: 1, max: 2 } });
  const calls = scratch.file('calls');
  const recorded = async (): Promise<readonly string[]> => (await readFile(calls, 'utf8')).trim().split('\n');
  await mkdir(scratch.file('inbox'));
  await writeFile(scratch.file('dropcast.yaml'), configuration(scratch.path, sandbox.baseUrl), { mode: 0o600 });
  const daemon = spawn(process.execPath, ['--import', './test/docs/record-calls.ts', 'src/main.ts', 'run'], {
    cwd: root,
    env: {
      ...process.env,
      CALL_LOG: calls,
      DROPCAST_CONFIG: scratch.file('dropcast.yaml'),
      DROPCAST_API_KEY: sandbox.apiKey,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(daemon, 'exit');
  let output = '';
  for (const stream of [daemon.stdout, daemon.stderr]) stream.on('data', (part) => (output += String(part)));
  const shown = { seen: () => output };
  try {
    const status = () => callDaemon<StatusView>(scratch.file('control.sock'), 'GET', '/status');
    await until('the folder is watched', async () => (await status()).folders[0]?.state === 'watching', shown);
    const starting = await recorded();
    await copyFile(new URL('../media/clip.mp4', import.meta.url), scratch.file('inbox/clip.mp4'));
    await until('the file is put away', () => existsSync(scratch.file('inbox/done/clip.mp4')), shown);
    daemon.kill('SIGTERM');
    await ended;
    return { starting, working: (await recorded()).slice(starting.length) };
  } finally {
    daemon.kill('SIGKILL');
    await ended;
  }
}

function configuration(path: string, baseUrl: string): string {
  return `
service: { base_url: "${baseUrl}", api_key: !env DROPCAST_API_KEY }
state_dir: ${path}/state
poll: { interval: 1s }
publish: { quiet: 100ms }
folders:
  - path: ${path}/inbox
    settle: 300ms
    after_ready: { move: done }
    rules: [{ match: "**", channel: ch_news, title: "{title}", publish: [feed_news] }]
status: { listen: off, socket: ${path}/control.sock }
log: { level: debug, format: json }
`;
}
