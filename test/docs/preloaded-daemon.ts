import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { startSandbox } from '@dropcast/sandbox';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { StatusView } from '../../src/view/picture/documents.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { tagged, writeConfig } from '../support/configuration.ts';

export interface Preloaded {
  /** The checkout whose daemon runs, from its sources. */
  readonly root: string;
  /** The module that Node loads first: a path, absolute or from `root`. */
  readonly preload: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly logLevel: 'debug' | 'info';
}

/** A daemon that watches an empty folder and works with a sandbox of its own. */
export interface PreloadedDaemon extends AsyncDisposable {
  /** Has an IPC channel, for the preloaded module. */
  readonly process: ChildProcess;
  /** Drops a video for one feed, with bytes that no other name has, and waits until its file is put away. */
  drop(name: string): Promise<void>;
  /** Stops it as systemd does, and waits for its end. */
  stop(): Promise<void>;
}

/** Starts a daemon, and waits until it watches its folder. */
export async function startPreloaded({ root, preload, env, logLevel }: Preloaded): Promise<PreloadedDaemon> {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const sandbox = stack.use(await startSandbox({ processingMs: { min: 1, max: 2 } }));
  await mkdir(scratch.file('inbox'));
  const config = await writeConfig(scratch, {
    service: { base_url: sandbox.baseUrl, api_key: tagged('!env', 'DROPCAST_API_KEY') },
    poll: { interval: '1s' },
    publish: { quiet: '100ms' },
    folders: [
      {
        settle: '300ms',
        after_ready: { move: 'done' },
        rules: [{ match: '**', channel: 'ch_news', title: '{title}', publish: ['feed_news'] }],
      },
    ],
    status: { socket: 'control.sock' },
    log: { level: logLevel, format: 'json' },
  });
  const daemon = spawn(process.execPath, ['--import', preload, 'src/main.ts', 'run'], {
    cwd: root,
    env: {
      ...process.env,
      ...env,
      DROPCAST_CONFIG: config,
      DROPCAST_API_KEY: sandbox.apiKey,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(daemon, 'exit');
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    daemon.kill(signal);
    await ended;
  };
  stack.defer(() => stop('SIGKILL'));
  let output = '';
  for (const stream of [daemon.stdout, daemon.stderr]) stream?.on('data', (part) => (output += String(part)));
  const shown = { seen: () => output };
  const status = () => callDaemon<StatusView>(scratch.file('control.sock'), 'GET', '/status');
  await until('the folder is watched', async () => (await status()).folders[0]?.state === 'watching', shown);
  const parts = stack.move();
  return {
    process: daemon,
    drop: async (name) => {
      await writeFile(scratch.file('inbox', name), await videoFor(name));
      await until('the file is put away', () => existsSync(scratch.file('inbox/done', name)), shown);
    },
    stop: () => stop('SIGTERM'),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Ends with a `free` box that holds the name: the same content would be skipped as a duplicate. */
async function videoFor(name: string): Promise<Buffer> {
  const header = Buffer.from('\0\0\0\0free');
  header.writeUInt32BE(header.length + Buffer.byteLength(name));
  return Buffer.concat([await readFile(new URL('../media/clip.mp4', import.meta.url)), header, Buffer.from(name)]);
}
