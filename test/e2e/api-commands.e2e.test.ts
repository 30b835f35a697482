import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast, makeScratch, startDropcast } from './dropcast-process.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { DropcastProcess, Ended, Scratch } from './dropcast-process.ts';
import { startVideoHost } from './video-host.ts';
import { needs } from '../support/needs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sample = (name: string): string => join(root, 'test/media', name);

interface SandboxProcess {
  readonly process: DropcastProcess;
  readonly baseUrl: string;
  readonly key: string;
  readonly admin: { readonly url: string; readonly token: string };
}

async function startSandboxProcess(...args: readonly string[]): Promise<SandboxProcess> {
  const process = startDropcast(['sandbox', '--port', '0', '--json', ...args]);
  await until('the sandbox says where it is', () => process.output().includes('\n'));
  const said = JSON.parse(process.output().split('\n')[0] ?? '') as Record<string, string>;
  const { base_url: baseUrl, api_key: key, admin_url: url, admin_token: token } = said;
  if (baseUrl === undefined || key === undefined || url === undefined || token === undefined)
    throw new Error(`the sandbox printed ${process.output()}`);
  return { process, baseUrl, key, admin: { url, token } };
}

let scratch: Scratch;
let sandbox: SandboxProcess;

beforeAll(async () => {
  sandbox = await startSandboxProcess();
  scratch = await makeScratch({
    service: { base_url: sandbox.baseUrl, api_key: sandbox.key },
    folders: [{ path: 'not-there' }],
  });
});
afterAll(async () => {
  await sandbox.process[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

/** A command that finds the service by the configuration of the daemon. */
const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', scratch.config]);

/** The text of an answer, without any command. */
async function ask(method: string, path: string, body?: object): Promise<string> {
  const headers = { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await fetch(sandbox.baseUrl + path, { method, headers, ...sent })).text();
}

/** A ready video in `ch_news`, made without any command. @returns its id */
async function newVideo(fields: { readonly title: string; readonly tags?: readonly string[] }): Promise<string> {
  const made = await ask('POST', '/videos', { channel_id: 'ch_news', ...fields });
  const { id, upload_url: address } = JSON.parse(made) as { id: string; upload_url: string };
  expect((await fetch(address, { method: 'PUT', body: await readFile(sample('clip.mp4')) })).ok).toBe(true);
  await until(`${id} is ready`, async () => (await ask('GET', `/videos/${id}`)).includes('"ready"'));
  return id;
}

/** The one JSON document of a command that succeeded. */
async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const ended = await run(...args, '--json');
  expect(ended, args.join(' ')).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1);
  const document = JSON.parse(ended.stdout) as Record<string, unknown>;
  expect(document['v']).toBe(1);
  return document;
}

/** A failure is one sentence on stderr, without a stack, the key or an upload address. */
function expectSentence(ended: Ended, code: number, text: string | RegExp): void {
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toMatch(text);
  expect(ended.stderr).not.toMatch(/\n\s+at |node:internal|dropcast crashed|\/uploads\//);
  expect(ended.stderr).not.toContain(sandbox.key);
}

/** Controls, a line end and a bidirectional override: a title that would act on a terminal. */
const hostile = 'Evening\nnews\u{1B}[2J \u202Egpj';
const shown = String.raw`Evening\nnews\x1b[2J \u202egpj`;

alongside('every command once', () => {
  test('videos upload --wait sends a file and follows it; progress is on stderr, the result on stdout', async () => {
    const fields = ['--channel', 'ch_news', '--description', 'one\ntwo', '--tag', 'a', '--tag', 'b'];
    const sent = await run('videos', 'upload', sample('clip.mp4'), ...fields, '--wait', '--json');
    expect(sent.code, sent.stderr).toBe(0);
    expect(sent.stderr).toMatch(/^clip\.mp4: creating\nclip\.mp4: uploading \([\d.]+ kB\)\n/);
    expect(sent.stderr).toMatch(/clip\.mp4: done in /);
    expect(sent.stderr).not.toContain('/uploads/');
    const { video, ...uploaded } = JSON.parse(sent.stdout) as { id: string; video: Record<string, unknown> };
    const { id } = uploaded;
    expect(uploaded).toEqual({
      v: 1,
      id,
      status: 'ready',
      size: 65_182,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(video).toMatchObject({ id, title: 'clip', status: 'ready', channel_id: 'ch_news', tags: ['a', 'b'] });
  });

  test('videos upload --wait of a damaged file ends with exit code 1, the reason, and the id', async () => {
    const sent = await run('videos', 'upload', sample('truncated.mp4'), '--wait');
    expect(sent.code).toBe(1);
    expect(sent.stdout).toMatch(/^id {6}vid_\w+\nstatus {2}failed\nsize /);
    expect(sent.stderr).toMatch(/^truncated\.mp4: failed$/m);
    expect(sent.stderr.trimEnd().split('\n').at(-1)).toMatch(/failed/);
  });

  test('videos update changes it, and a hostile title is shown and does nothing', async () => {
    const id = await newVideo({ title: 'clip', tags: ['a'] });
    const { stdout, code } = await run('videos', 'update', id, '--title', hostile, '--description=three', '--no-tags');
    expect(code).toBe(0);
    expect(stdout).toContain(`title        ${shown}\n`);
    expect(stdout).not.toContain('\u{1B}');
    expect(await json('videos', 'get', id)).toMatchObject({
      video: { id, title: hostile, description: 'three', tags: [] },
    });
  });

  test('videos list, for people and for programs', async () => {
    await newVideo({ title: 'older' });
    const id = await newVideo({ title: hostile });
    const list = await run('videos', 'list', '--channel', 'ch_news', '-n', '1');
    expect(list).toMatchObject({ code: 0, stderr: expect.stringContaining('--limit') });
    expect(list.stdout).toMatch(/^STATUS +ID +TITLE +LENGTH +CREATED\n/);
    expect(list.stdout).toContain(`${id}  ${shown}`);
    const { videos } = await json('videos', 'list', '--channel', 'ch_news', '--status', 'ready');
    expect(videos).toContainEqual(expect.objectContaining({ id, title: hostile, status: 'ready' }));
  });

  test('videos create prints an upload address that takes a file', async () => {
    const { upload_url: address, status } = await json('videos', 'create', '--title', 'By hand');
    expect(status).toBe('pending');
    expect((await fetch(String(address), { method: 'PUT', body: 'no video' })).ok).toBe(true);
  });

  test('videos import has the service fetch a file', async () => {
    const bytes = await readFile(sample('clip.mp4'));
    await using web = await startServer((_request, response) => response.end(bytes));
    const { id: made } = await json('videos', 'import', `${web.origin}/clip.mp4`, '--title', 'Imported');
    await until('the import is ready', async () => (await ask('GET', `/videos/${String(made)}`)).includes('"ready"'));
  });

  test('channels list and update, with player settings out of a file', async () => {
    expect((await run('channels', 'list')).stdout).toMatch(/^ID +NAME +SLUG +VIDEOS +CREATED\n/);
    const file = scratch.file('player.json');
    await writeFile(file, '{"autoplay":true}');
    const changed = await json('channels', 'update', 'ch_podcast', '--name', 'Talks', '--player-settings', `@${file}`);
    expect(changed).toMatchObject({
      id: 'ch_podcast',
      channel: { name: 'Talks', default_player_settings: { autoplay: true } },
    });
  });

  test('feeds list and publish', async () => {
    const published = await json('feeds', 'publish', 'feed_news');
    expect(published).toMatchObject({ feed_id: 'feed_news', status: 'published', video_count: expect.any(Number) });
    const { stdout } = await run('feeds', 'list');
    expect(stdout).toMatch(/^ID +NAME +TYPE +CHANNEL +PUBLISHED +ADDRESS\nfeed_news .*\d{4}-\d\d-\d\dT/);
  });

  test('analytics of a video and of everything', async () => {
    const id = await newVideo({ title: 'clip' });
    const today = new Date().toISOString().slice(0, 10);
    const record = await json('analytics', 'video', id, '--from', '7d');
    const { videos } = (await json('analytics', 'videos', '--channel', 'ch_news')) as { videos: object[] };
    expect(videos).toEqual(expect.arrayContaining([expect.objectContaining({ video_id: id, views: 0 })]));
    expect(record).toMatchObject({ video_id: id, period: { to: today }, views: expect.any(Number) });
    const { stdout } = await run(
      'analytics',
      'overview',
      '--channel',
      'ch_news',
      '--from',
      '2026-03-01',
      '--to',
      '2026-03-31',
    );
    expect(stdout).toMatch(/^period +2026-03-01 to 2026-03-31\nviews +\d.*\nunique viewers +\d/);
  });

  test('videos delete requires confirmation: --yes without a terminal', async () => {
    const id = await newVideo({ title: 'clip' });
    expectSentence(await run('videos', 'delete', id), 2, 'pass --yes');
    expect(await ask('GET', `/videos/${id}`)).toContain(id);
    expect(await json('videos', 'delete', id, '--yes')).toEqual({ v: 1, id, deleted: true });
    expectSentence(await run('videos', 'get', id), 1, /^the service answered 404 not_found: [^\n]+\n$/);
  });
});

alongside('what goes wrong', () => {
  const elsewhere = (baseUrl: string, key = sandbox.key): ((...args: string[]) => Promise<Ended>) => {
    return (...args) => dropcast([...args, '--base-url', baseUrl], { DROPCAST_API_KEY: key });
  };

  test('an unknown id is reported in the words of the service', async () => {
    const commands = [
      ['feeds', 'publish', 'feed_none'],
      ['analytics', 'video', 'vid_none', '--from', '7d'],
    ];
    for (const ended of await Promise.all(commands.map((command) => run(...command))))
      expectSentence(ended, 1, /^the service answered 404 not_found: [^\n]+\n$/);
  });

  test('tricks in ids reach no other endpoint', async () => {
    expectSentence(await run('videos', 'get', '..'), 2, /^".." is not an id\n$/);
    expectSentence(await run('videos', 'get', '../channels'), 1, /^the service answered 404 not_found[^\p{Cc}]+\n$/u);
  });

  test('a wrong key: what the service says, and where the key is from', async () => {
    const ended = await elsewhere(sandbox.baseUrl, 'sk_wrong_key_12345')('channels', 'list');
    expectSentence(ended, 1, /401 unauthorized: .*; the key is from \$DROPCAST_API_KEY\n$/);
    expect(ended.stderr).not.toContain('sk_wrong_key_12345');
  });

  test('an unreachable service', async () => {
    await using gone = await startServer(() => undefined);
    await gone[Symbol.asyncDispose]();
    expectSentence(
      await elsewhere(`${gone.origin}/v1`)('feeds', 'list'),
      1,
      /cannot be reached: nothing listens there \(ECONNREFUSED\)\n$/,
    );
  });

  test('too many requests: when to ask again', async () => {
    await using limited = (await startSandboxProcess('--requests-per-hour', '1')).process;
    const { base_url: baseUrl, api_key: key } = JSON.parse(limited.output()) as Record<string, string>;
    await fetch(`${baseUrl}/channels`, { headers: { authorization: `Bearer ${key}` } });
    expectSentence(
      await elsewhere(baseUrl ?? '', key)('channels', 'list'),
      1,
      /429 rate_limited: .*; try again in (1 h|59 m|60 m)[^\n]*\n$/,
    );
  });

  test('a self-signed certificate: refused with advice, and accepted with --ca', async () => {
    await using secure = (await startSandboxProcess('--tls')).process;
    const {
      base_url: baseUrl = '',
      api_key: key,
      ca_path: ca = '',
    } = JSON.parse(secure.output()) as Record<string, string>;
    const ask = elsewhere(baseUrl, key);
    expectSentence(
      await ask('feeds', 'list'),
      1,
      /cannot be reached: its certificate .* NODE_EXTRA_CA_CERTS \(\w+\); or pass --ca FILE\n$/,
    );
    expect(await ask('feeds', 'list', '--ca', ca)).toMatchObject({ code: 0, stderr: '' });
  });

  test('an answer that is not JSON', async () => {
    await using portal = await startServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<html>'),
    );
    expectSentence(await elsewhere(`${portal.origin}/v1`)('videos', 'list'), 1, /a web page/);
  });

  test('wrong usage and a missing configuration have their own exit codes', async () => {
    expectSentence(await run('analytics', 'video', 'vid_1', '--from', '2026-02-30'), 2, 'no such date');
    expectSentence(await dropcast(['videos', 'list', '-c', '/nowhere.yaml']), 78, '`dropcast sandbox`');
  });

  test('Ctrl-C ends an upload at once and names the record that it leaves', async () => {
    // Takes the connection and reads nothing of the file.
    await using host = await startVideoHost({ meddleUpload: () => true });
    const large = scratch.file('large.mp4');
    await writeFile(large, Buffer.alloc(32 * 1024 * 1024));
    await using upload = startDropcast(['videos', 'upload', large, '--base-url', host.baseUrl], {
      DROPCAST_API_KEY: host.key,
    });
    await until('the upload is under way', () => host.puts.length === 1);
    const ended = await upload.kill('SIGINT');
    const [id = ''] = host.videos.keys();
    expect(ended).toMatchObject({ code: 1, signal: null, stdout: '' });
    expect(ended.stderr).toContain(`; the record ${id} `);
    expect(ended.stderr).not.toContain(host.uploadOrigin);
  });
});

alongside('on the shell', () => {
  test('a reader that closes early causes no error', async () => {
    for (const reader of ['head -1', 'true']) {
      const ended = await inShell(`"$NODE" src/main.ts channels list -c "$CONFIG" | ${reader}; exit \${PIPESTATUS[0]}`);
      expect(ended, reader).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test('colours are on a terminal alone, and not with NO_COLOR', needs('script'), async () => {
    const command = `"$NODE" src/main.ts channels list -c "$CONFIG"`;
    expect((await inShell(onTerminal(command))).stdout).toContain('\u{1B}[1mID');
    expect((await inShell(onTerminal(command), { NO_COLOR: '1' })).stdout).not.toContain('\u{1B}');
  });

  test('videos delete asks on a terminal, and takes only yes', needs('script'), async () => {
    const { id } = JSON.parse(await ask('POST', '/videos', { title: hostile })) as { id: string };
    const remove = onTerminal(`"$NODE" src/main.ts videos delete ${id} -c "$CONFIG"`);
    const kept = await inShell(remove, {}, 'n\n');
    expect(kept.stdout).toContain(`Delete ${id} "${shown}" (pending)`);
    expect(kept).toMatchObject({ code: 1, stdout: expect.stringContaining('nothing was deleted') });
    expect(await inShell(remove, {}, 'y\n')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Deleted ${id}.`),
    });
    expect(await ask('GET', `/videos/${id}`)).toContain('not_found');
  });

  test('an upload on a terminal is shown live', needs('script'), async () => {
    // Of its own: a test beside this one would be slowed down in its place.
    const slow = await startSandboxProcess();
    await using _ = slow.process;
    await slowDownUploads(slow.admin);
    const command = `stty cols 90 rows 20; "$NODE" src/main.ts videos upload test/media/clip.mp4 --base-url ${slow.baseUrl}`;
    const { stdout, code } = await inShell(onTerminal(command), { DROPCAST_API_KEY: slow.key });
    expect(code).toBe(0);
    expect(stdout).toContain('clip.mp4  \u{1B}[36muploading');
    expect(stdout).toMatch(/clip\.mp4 {2}uploaded\s/);
    expect(stdout).toMatch(/id {6}vid_/);
  });
});

/** A sample goes in one frame of the display else. */
async function slowDownUploads({ url, token }: SandboxProcess['admin']): Promise<void> {
  const fault = { kind: 'slow_read', operation: 'uploads.put', bytes_per_second: 30_000 };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/faults`, { method: 'POST', headers, body: JSON.stringify(fault) });
  expect(answer.status).toBe(201);
}

function onTerminal(command: string): string {
  return `script -qec '${command}' /dev/null`;
}

/** Runs a line of bash in the package's folder, where $NODE is the runtime and $CONFIG the configuration. */
async function inShell(line: string, env: Readonly<Record<string, string>> = {}, typed = ''): Promise<Ended> {
  const node = join(root, 'node_modules/.bin/node');
  const child = spawn('bash', ['--norc', '-c', line], {
    cwd: root,
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', NODE: node, CONFIG: scratch.config, ...env },
  });
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  child.stdin.end(typed);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, stdout: await output, stderr: await errors };
}
