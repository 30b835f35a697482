import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configText, type Settings } from '../../support/configuration.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { programFiles } from '../../../scripts/package/contents.ts';
import { writeTree } from '../../../scripts/package/packaged-file.ts';
import { startServer } from '../../support/server.ts';
import { LIVE_SCRIPT } from '../../../packages/pages/src/assets/live-script.ts';
import { until } from '../../support/until.ts';
import { startVideoHost } from '../../e2e/video-host.ts';

const root = join(import.meta.dirname, '../../..');
/** Of dropcast.service: no code is compiled at run time. */
const HARDENED = ['--jitless', '--disable-sigusr1', '--disallow-code-generation-from-strings'];

let directory: ScratchDirectory;
let scratch: string;
let main: string;

beforeAll(async () => {
  directory = await scratchDirectory();
  scratch = directory.path;
  const { files } = await programFiles(root);
  await writeTree(files, scratch, 0);
  main = join(scratch, 'usr/lib/dropcast/dist/main.js');
  await writeFile(join(scratch, 'record.mjs'), RECORD);
});
afterAll(() => directory[Symbol.asyncDispose]());

/** Writes down at the end which modules were loaded, which threads answered, and who asked for what must not be used. */
const RECORD = `
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { writeFileSync } from 'node:fs';
import threads from 'node:worker_threads';
const modules = [];
const answered = new Set();
const asked = [];
threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, options);
    this.on('message', () => answered.add(String(file)));
  }
};
syncBuiltinESMExports();
registerHooks({ load(url, context, next) { modules.push(url); return next(url, context); } });
for (const name of ['fetch', 'WebAssembly', 'WebSocket', 'EventSource']) {
  const value = name === 'WebAssembly' ? globalThis[name] : undefined;
  Object.defineProperty(globalThis, name, { configurable: true, get() { asked.push(new Error(name).stack); return value; } });
}
process.on('exit', () => writeFileSync(process.env.RECORD, JSON.stringify({ modules, answered: [...answered], asked })));
`;

interface Recorded {
  readonly modules: readonly string[];
  readonly answered: readonly string[];
  readonly asked: readonly string[];
}

function start(args: readonly string[], flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const options = [...flags, '--disable-warning=ExperimentalWarning', main, ...args];
  const child = spawn(process.execPath, options, { cwd: scratch, env: { HOME: scratch, NO_COLOR: '1', ...env } });
  let output = '';
  child.stdout.on('data', (part) => (output += String(part)));
  child.stderr.on('data', (part) => (output += String(part)));
  const ended = new Promise<number | null>((resolve) => void child.on('close', resolve));
  return {
    output: () => output,
    ended,
    stop: () => child.kill('SIGTERM'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function recorded(name: string): Promise<Recorded> {
  return JSON.parse(await readFile(join(scratch, name), 'utf8')) as Recorded;
}

function recording(name: string): { flags: readonly string[]; env: Readonly<Record<string, string>> } {
  return { flags: ['--import', join(scratch, 'record.mjs')], env: { RECORD: join(scratch, name) } };
}

test('the bundle says its version and its help, and loads no daemon, service, sandbox or configuration for that', async () => {
  const { flags, env } = recording('help.json');
  await using help = start(['--help'], flags, env);
  expect(await help.ended, help.output()).toBe(0);
  const { modules } = await recorded('help.json');
  const loaded = modules.filter((url) => url.startsWith('file:')).map((url) => basename(url));
  expect(loaded).toContain('main.js');
  const code = await sourcesOf(modules);
  for (const library of ['node:sqlite', 'chokidar', 'createActor', 'node:https', 'parseDocument']) {
    expect(code).not.toContain(library);
  }
  await using version = start(['--version']);
  expect(await version.ended).toBe(0);
  expect(version.output()).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the daemon uploads a file without a code compiler, and asks for neither fetch nor WebAssembly', async () => {
  await using host = await startVideoHost();
  await mkdir(join(scratch, 'inbox'));
  await writeFile(join(scratch, 'dropcast.yaml'), configOf(host.baseUrl), { mode: 0o600 });
  const { flags, env } = recording('run.json');
  await using daemon = start(['run'], [...HARDENED, ...flags], { ...env, KEY: host.key });
  await until(`ready: ${daemon.output()}`, () => daemon.output().includes('"Ready"'));
  // Large enough to be hashed in a thread.
  await writeFile(join(scratch, 'inbox/clip.mp4'), Buffer.alloc(17 * 1024 * 1024, 'x'));
  await until('the file is done', async () => {
    if ([...host.videos.values()].every(({ status }) => status !== 'ready')) return false;
    await using ls = start(['ls', '--state', 'done', '--json'], HARDENED, { KEY: host.key });
    await ls.ended;
    return ls.output().includes('clip.mp4');
  });
  await using reload = start(['reload'], HARDENED, { KEY: host.key });
  expect(await reload.ended, reload.output()).toBe(0);
  daemon.stop();
  expect(await daemon.ended, daemon.output()).toBe(0);
  const { modules, answered, asked } = await recorded('run.json');
  expect(asked).toEqual([]);
  const least = availableParallelism() > 1 ? ['hash-thread.js'] : [];
  expect(answered.map((url) => basename(url))).toEqual(least);
  // The page's script runs in the browser.
  const code = (await sourcesOf(modules)).replaceAll(LIVE_SCRIPT, '');
  expect(code).toContain('node:sqlite');
  expect(code).not.toMatch(/WebAssembly|undici|(?:await|return|=|\()\s*fetch\(|from "node:(?:wasi|vm|inspector)"/);
});

test('notifications by e-mail and webhook work without a code compiler, with the daemon and without it', async () => {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _, done) => {
      stream.once('end', () => done());
      void text(stream).then((mail) => mails.push(mail));
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  await using hook = await startServer((_, response) => response.end());
  await using host = await startVideoHost();
  await mkdir(join(scratch, 'told'));
  const { port } = smtp.server.address() as AddressInfo;
  const settings: Settings = {
    state_dir: 'told-state',
    folders: [{ path: 'told' }],
    notify: [
      { type: 'email', smtp: `smtp://127.0.0.1:${port}`, from: 'a@example.com', to: ['b@example.com'] },
      { type: 'webhook', url: `${hook.origin}/x` },
    ],
  };
  const config = join(scratch, 'notify.yaml');
  await writeFile(config, configOf(host.baseUrl, settings), { mode: 0o600 });
  const tell = async (): Promise<string> => {
    await using command = start(['notify', 'test', '--config', config], HARDENED, { KEY: host.key });
    const code = await command.ended;
    return `${code} ${command.output()}`;
  };
  expect(await tell()).toMatch(/^0 The daemon is not running.*\nok +email, .*250.*\nok +webhook, .*answered 200/);
  await using daemon = start(['run', '--config', config], HARDENED, { KEY: host.key });
  await until(`ready: ${daemon.output()}`, () => daemon.output().includes('"Ready"'));
  expect(await tell()).toMatch(/^0 ok +email, .*250.*\nok +webhook, .*answered 200/);
  expect(mails).toHaveLength(2);
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  expect(await tell()).toMatch(/^1 FAILED +email, .*ECONNREFUSED|ESOCKET/);
});

test(
  'the sandbox of the bundle finds its parser, its contract and its samples, and the whole way is gone',
  { timeout: 120_000 },
  async () => {
    await using demo = start(['demo']);
    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toContain('5 of 5 files are ready and published');
  },
);

test('the bundle holds no path of the machine that it was made on', async () => {
  const { files } = await programFiles(root);
  for (const { path, content } of files.filter(({ path }) => path.endsWith('.js'))) {
    expect(String(content).includes(root), path).toBe(false);
  }
});

async function sourcesOf(modules: readonly string[]): Promise<string> {
  const files = modules.filter((url) => url.startsWith('file:') && !url.endsWith('record.mjs'));
  return (await Promise.all(files.map((url) => readFile(new URL(url), 'utf8')))).join('\n');
}

function configOf(baseUrl: string, settings: Settings = {}): string {
  return configText({ service: { base_url: baseUrl }, log: { format: 'json' }, ...settings });
}
