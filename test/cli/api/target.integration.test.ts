import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTarget } from '../../../src/cli/api/target.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from './fake-shell.ts';
import { tagged, writeConfig, type Settings } from '../../support/configuration.ts';

const key = 'sk_live_0123456789';
let scratch: ScratchDirectory;
let folder: string;

beforeAll(async () => {
  scratch = await scratchDirectory();
  folder = scratch.path;
});
afterAll(() => scratch[Symbol.asyncDispose]());

/** A configuration in the folder; its watched folder is not there, which is no concern of these commands. */
function config(name: string, service: NonNullable<Settings['service']>, others: Settings = {}): Promise<string> {
  return writeConfig(scratch, { folders: [{ path: 'nowhere' }], ...others, service }, name);
}

const shell = (env: Record<string, string> = {}) => fakeShell({ env, cwd: folder });

test('the configuration of the daemon says where the service is, whether or not its folders are there', async () => {
  const file = await config('good.yaml', { base_url: 'https://video.example.com/v1/' });
  const target = await findTarget(shell({ KEY: key }), { config: file });
  expect(target).toMatchObject({ baseUrl: 'https://video.example.com/v1', sendKeyTo: [], ca: {} });
  expect(target.apiKey.reveal()).toBe(key);
  expect(target.keyFrom).toBe(`service.api_key of ${file}`);
  expect((await findTarget(shell({ KEY: key, DROPCAST_CONFIG: file }), {})).baseUrl).toBe(target.baseUrl);
});

test('it also says which headers an upload has, and their values are shown nowhere', async () => {
  const uploads = { headers: { 'X-Token': tagged('!env', 'KEY'), 'x-site': 'north' }, content_type: 'none' };
  const file = await config('headers.yaml', { base_url: 'https://video.example.com/v1' }, { uploads });
  const target = await findTarget(shell({ KEY: key }), { config: file });
  expect(target.sendOptions()).toEqual({ headers: { 'X-Token': key, 'x-site': 'north' }, contentType: null });
  expect(JSON.stringify(target)).not.toContain(key);
  const other = await findTarget(shell({ DROPCAST_API_KEY: key }), { baseUrl: 'http://127.0.0.1:8787/v1' });
  expect(other.sendOptions()).toEqual({ headers: {} });
});

const misspelt = { colour: 'red' };

test('a wrong configuration is reported line by line, with exit code 78', async () => {
  const file = await config('bad.yaml', { base_url: 'http://video.example.com/v1', ...misspelt });
  await expect(findTarget(shell(), { config: file })).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringMatching(/^bad\.yaml:2:.*plain http[^]*KEY is not set[^]*colour[^]*bad\.yaml is wrong[^]*$/),
  });
});

test('a warning about the key is logged, one about rules is left to `dropcast check`', async () => {
  await writeFile(join(folder, 'api.key'), key, { mode: 0o644 });
  const rules = [
    { match: '**', channel: 'a' },
    { match: 'b/**', channel: 'b' },
  ];
  const file = await config(
    'odd.yaml',
    { api_key: tagged('!file', 'api.key') },
    { folders: [{ path: 'other', rules }] },
  );
  const screen = shell();
  await findTarget(screen, { config: file });
  expect(screen.err.text).toMatch(
    /^odd\.yaml:3:\d+ service\.api_key: warning: every user can read the key file [^\n]*\n$/,
  );
});

test('--base-url with the key in the environment needs no configuration and reads none', async () => {
  const options = { baseUrl: 'http://127.0.0.1:8787/v1/', config: '/does/not/exist.yaml' };
  const target = await findTarget(shell({ DROPCAST_API_KEY: key }), options);
  expect(target).toMatchObject({ baseUrl: 'http://127.0.0.1:8787/v1', keyFrom: '$DROPCAST_API_KEY' });
  expect(target.apiKey.reveal()).toBe(key);
  expect(JSON.stringify(target)).not.toContain(key);
});

test.each([{}, { DROPCAST_API_KEY: '' }, { DROPCAST_API_KEY: `${key}\n` }])(
  '--base-url without a usable key names the variable and not its value: %j',
  async (env) => {
    const failed = await findTarget(shell(env), { baseUrl: 'https://example.com/v1' }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ exitCode: 78, message: expect.stringContaining('variable DROPCAST_API_KEY') });
    expect(String(failed)).not.toContain(key);
  },
);

test.each(['example.com', 'http://example.com/v1', 'https://me:geheim@example.com', 'https://example.com/?a', ''])(
  '--base-url %j is wrong usage, and never repeated',
  async (baseUrl) => {
    const failed = await findTarget(shell({ DROPCAST_API_KEY: key }), { baseUrl }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^--base-url: /) });
    expect(String(failed)).not.toContain('geheim');
  },
);

test('$DROPCAST_BASE_URL is taken when no option says it, before every configuration that is only found', async () => {
  const file = await config('found.yaml', {
    base_url: 'https://video.example.com/v1',
    api_key: tagged('!env', 'DROPCAST_API_KEY'),
  });
  const url = 'http://127.0.0.1:8787/v1';
  const env = { DROPCAST_API_KEY: key, DROPCAST_BASE_URL: url, DROPCAST_CONFIG: file };
  expect((await findTarget(shell(env), {})).baseUrl).toBe(url);
  expect((await findTarget(shell(env), { config: file })).baseUrl).toBe('https://video.example.com/v1');
  expect((await findTarget(shell(env), { baseUrl: 'https://example.com/v2' })).baseUrl).toBe('https://example.com/v2');
  expect((await findTarget(shell({ ...env, DROPCAST_BASE_URL: '' }), {})).baseUrl).toBe('https://video.example.com/v1');
  await expect(findTarget(shell({ ...env, DROPCAST_BASE_URL: 'geheim' }), {})).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^\$DROPCAST_BASE_URL: .*https:/),
  });
});

test('with neither, it says what to do and where to try', async () => {
  const missing = findTarget(shell(), { config: 'nowhere.yaml' });
  await expect(missing).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringMatching(
      /nowhere\.yaml \(from --config\)\n.*--base-url.*\$DROPCAST_API_KEY.*`dropcast sandbox`/,
    ),
  });
});

test('--ca takes certificates, and nothing else', async () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  await writeFile(join(folder, 'ca.pem'), pem);
  await writeFile(join(folder, 'key.txt'), 'no certificate');
  const find = (ca: string) => findTarget(shell({ DROPCAST_API_KEY: key }), { baseUrl: 'https://localhost/v1', ca });
  expect((await find('ca.pem')).ca).toEqual({ '*': pem });
  for (const [file, why] of [
    ['key.txt', 'PEM'],
    ['missing.pem', 'no such file'],
    ['.', 'is a directory'],
  ] as const) {
    await expect(find(file)).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(why) });
  }
});
