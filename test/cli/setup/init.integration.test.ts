import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '@dropcast/sandbox';
import type { Sandbox } from '@dropcast/sandbox';
import { init } from '../../../src/cli/setup/init.ts';
import type { InitOptions } from '../../../src/cli/setup/init.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { checkDirectories } from '../../../src/config/check-directories.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';
import type { FakeShell } from '../api/fake-shell.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

interface Place extends AsyncDisposable {
  readonly scratch: ScratchDirectory;
  readonly shell: FakeShell;
  readonly flags: InitOptions;
}

async function place(isTerminal = false, env: Record<string, string> = {}): Promise<Place> {
  const scratch = await scratchDirectory();
  const keyFile = await scratch.write('given.key', `${sandbox.apiKey}\n`);
  await chmod(keyFile, 0o600);
  const shell = fakeShell({ isTerminal, cwd: scratch.path, env: { XDG_STATE_HOME: scratch.file('xdg'), ...env } });
  const flags = { service: sandbox.baseUrl, keyFile, folder: 'inbox', channel: 'ch_main' };
  return { scratch, shell, flags, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

test('without a terminal init names every flag that is missing, and writes nothing', async () => {
  await using here = await place();
  await expect(init(here.shell, {})).rejects.toMatchObject({
    exitCode: 2,
    message:
      'there is no terminal to ask on, so every answer must be a flag; missing: --service URL, --key-file FILE (or --key-env NAME), --folder DIR, --channel ID',
  });
  expect(await readdir(here.scratch.path)).toEqual(['given.key']);
});

test('with all flags init writes a configuration that passes every check, and names the next command', async () => {
  await using here = await place();
  await init(here.shell, { ...here.flags, title: '{title} ({date})', feed: ['feed_main'] });
  const file = here.scratch.file('dropcast.yaml');
  const { config, paths, problems, locate } = await loadConfig(file, here.shell);
  expect(problems).toEqual([]);
  expect(paths && (await checkDirectories(paths, locate))).toEqual([]);
  expect(config?.service.apiKey.reveal()).toBe(sandbox.apiKey);
  expect(config?.folders[0]).toMatchObject({
    path: here.scratch.file('inbox'),
    rules: [{ channel: 'ch_main', title: '{title} ({date})', publish: ['feed_main'] }],
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(here.shell.out.text).toContain('Next: dropcast run\n');
  expect(here.shell.out.text + here.shell.err.text).not.toContain(sandbox.apiKey);
});

test('a second init with the same answers changes nothing', async () => {
  await using here = await place();
  await init(here.shell, here.flags);
  const before = await stat(here.scratch.file('dropcast.yaml'));
  await init(here.shell, here.flags);
  const after = await stat(here.scratch.file('dropcast.yaml'));
  expect(after.ino).toBe(before.ino);
  expect(here.shell.out.text).toContain('dropcast.yaml stays as it is');
});

test('a configuration that says something else is replaced only by force, and the difference is shown', async () => {
  await using here = await place();
  const file = await here.scratch.write('dropcast.yaml', 'service: mine\n');
  const refused = init(here.shell, here.flags);
  await expect(refused).rejects.toThrow('--force replaces it');
  await expect(refused).rejects.toThrow('- service: mine\n+ ');
  expect(await readFile(file, 'utf8')).toBe('service: mine\n');
  expect(existsSync(here.scratch.file('inbox'))).toBe(false);
  await init(here.shell, { ...here.flags, force: true });
  expect(await readFile(file, 'utf8')).toContain('channel: ch_main');
});

test('a key from the environment is named, and stored nowhere', async () => {
  await using here = await place(false, { THE_KEY: sandbox.apiKey });
  const { keyFile: _, ...flags } = here.flags;
  await init(here.shell, { ...flags, keyEnv: 'THE_KEY' });
  const names = await readdir(here.scratch.path);
  for (const name of names.filter((each) => !['inbox', 'given.key'].includes(each)))
    expect(await readFile(here.scratch.file(name), 'utf8')).not.toContain(sandbox.apiKey);
  expect(await readFile(here.scratch.file('dropcast.yaml'), 'utf8')).toContain('api_key: !env THE_KEY');
});

test.each<[string, InitOptions | ((here: Place) => InitOptions | Promise<InitOptions>), string]>([
  ['no address', { service: 'video example' }, '--service: the address: not a web address'],
  ['no scheme', { service: '127.0.0.1:9' }, 'https://127.0.0.1:9 '],
  ['nobody there', { service: 'http://127.0.0.1:9/v1' }, 'nothing listens there'],
  [
    'no version',
    () => ({ service: sandbox.baseUrl.replace('/v1', '') }),
    'answers, but this is not its API (404). Is the version missing, like /v1?',
  ],
  [
    'another website',
    () => ({ service: sandbox.adminUrl.replace('_sandbox', 'nothing') }),
    'answers, but this is not its API (404)',
  ],
  [
    'a wrong key',
    async ({ scratch }) => ({ keyFile: await scratch.write('wrong', 'wrong') }),
    '--key-file: the service does not accept this key (401)',
  ],
  ['no key file', { keyFile: 'nowhere' }, '--key-file: cannot read'],
  [
    'a channel that is not there',
    { channel: 'ch_\u001b[31mx' },
    'the service has no channel "ch_\\x1b[31mx"; it has ch_',
  ],
  ['a feed that is not there', { feed: ['feed_x'] }, 'the service has no feed "feed_x"; it has feed_'],
  ['a file for a folder', { folder: 'given.key' }, 'is not a directory'],
  [
    'a folder with the state in it',
    async ({ scratch }) => {
      await mkdir(scratch.file('xdg'));
      return { folder: 'xdg' };
    },
    'is inside the watched folder',
  ],
  [
    'the folder of another dropcast',
    async ({ scratch }) => {
      await mkdir(scratch.file('theirs/mine'), { recursive: true });
      const owner = { ledger: 'x', stateDir: '/elsewhere', host: 'other', hostName: 'nas' };
      await writeFile(scratch.file('theirs/.dropcast'), JSON.stringify({ v: 1, ...owner }));
      return { folder: 'theirs/mine' };
    },
    'the dropcast with the state directory /elsewhere on nas watches it',
  ],
])('an answer that cannot be used is refused at once, and nothing is written: %s', async (_, part, message) => {
  await using here = await place();
  const given = typeof part === 'function' ? await part(here) : part;
  await expect(init(here.shell, { ...here.flags, ...given })).rejects.toThrow(message);
  expect(existsSync(here.scratch.file('dropcast.yaml'))).toBe(false);
  expect(existsSync(here.scratch.file('dropcast.key'))).toBe(false);
});
