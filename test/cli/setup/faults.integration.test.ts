import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '@dropcast/sandbox';
import type { Sandbox } from '@dropcast/sandbox';
import { init } from '../../../src/cli/setup/init.ts';
import { checkAddress, checkKey } from '../../../src/cli/setup/service-answers.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import type { FakeShell } from '../api/fake-shell.ts';

const root = join(import.meta.dirname, '../../..');

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const answers: Readonly<Record<string, RequestListener>> = {
  'a web page': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  'a refused key': (_, response) => response.writeHead(401).end(),
  'an error of its own': (_, response) => response.writeHead(503).end('oops'),
  'too many requests': (_, response) => response.writeHead(429, { 'retry-after': '120' }).end(),
  'a redirect': (_, response) => response.writeHead(301, { location: 'https://new.example.com/v1?secret=1' }).end(),
  'a broken connection': (request) => request.socket.destroy(),
  'nothing at all': () => undefined,
  'an answer without end': (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('['),
  'JSON of another kind': (_, response) => response.writeHead(200).end('{"a":1}'),
};

test.each<[keyof typeof answers, address: string | null, key: string]>([
  ['a web page', 'does not answer like the API of a video service: ', 'with a web page'],
  ['a refused key', null, 'the service does not accept this key (401)'],
  ['an error of its own', 'the service has an internal problem (503); try again later', '(503); try again later'],
  ['too many requests', null, 'is rate limiting requests (429); try again in 2 m'],
  ['a redirect', 'a redirect to https://new.example.com', 'a redirect to https://new.example.com'],
  ['a broken connection', 'ECONNRESET', 'ECONNRESET'],
  ['nothing at all', 'did not answer in time; check the address, or try again later', 'did not answer in time'],
  ['an answer without end', 'did not answer in time', 'did not answer in time'],
  ['JSON of another kind', 'JSON of another shape', 'JSON of another shape'],
])('a service that answers with %s is recognised, for the address and for the key', async (name, address, key) => {
  await using server = await startServer(answers[name]!);
  const base = `${server.origin}/v1`;
  const { signal } = new AbortController();
  const [ofAddress, ofKey] = await Promise.all([checkAddress(base, signal, 500), checkKey(base, 'abcd', signal, 500)]);
  if (address === null) expect(ofAddress).toEqual({ ok: true, value: base });
  else expect(ofAddress).toMatchObject({ ok: false, why: expect.stringContaining(address) });
  expect(ofKey).toMatchObject({ ok: false, why: expect.stringContaining(key) });
  expect(JSON.stringify([ofAddress, ofKey])).not.toContain('secret=1');
});

async function place(term = 'dumb'): Promise<{ scratch: ScratchDirectory; shell: FakeShell } & AsyncDisposable> {
  const scratch = await scratchDirectory();
  const env = { TERM: term, XDG_STATE_HOME: scratch.file('xdg') };
  const shell = fakeShell({ isTerminal: true, cwd: scratch.path, env });
  Object.assign(shell.err, { end: () => shell.err });
  return { scratch, shell, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

const asked = (shell: FakeShell, question: string) =>
  until(`the question ${question}`, () => shell.err.text.includes(question), { seen: () => shell.err.text });

describe('stopped from outside', () => {
  test('while the service keeps an answer waiting, it ends, and asks nothing again', async () => {
    await using server = await startServer(() => undefined);
    await using here = await place();
    const done = init(here.shell, { service: `${server.origin}/v1` });
    const refused = expect(done).rejects.toThrow('stopped before anything was written');
    await until('it asks the service', () => server.sockets.size > 0);
    here.shell.stop();
    await refused;
  });

  test.each(['dumb', 'xterm'])('at a question on a terminal of the kind %s, it ends', async (term) => {
    await using here = await place(term);
    const done = init(here.shell, { service: sandbox.baseUrl });
    const refused = expect(done).rejects.toThrow('stopped before anything was written');
    await asked(here.shell, 'API key');
    here.shell.stop();
    await refused;
  });

  test('the answers so far are shown as flags, so that they need not be given again', async () => {
    await using here = await place();
    const done = init(here.shell, { title: "it's {title}", config: 'my.yaml' });
    const refused = expect(done).rejects.toThrow(
      `stopped before anything was written; to continue: dropcast init --service '${sandbox.baseUrl}' --folder '${here.scratch.file('inbox')}' --title 'it'\\''s {title}' --config 'my.yaml'`,
    );
    await asked(here.shell, 'Address of the API');
    here.shell.keyboard.write(`${sandbox.baseUrl}\n`);
    await asked(here.shell, 'API key');
    here.shell.keyboard.write(`${sandbox.apiKey}\n`);
    await asked(here.shell, 'Folder to watch');
    here.shell.keyboard.write('inbox\n');
    await asked(here.shell, 'Channel of its videos');
    here.shell.keyboard.end();
    await refused;
    expect(here.shell.err.text).not.toContain(sandbox.apiKey);
    expect(await readdir(here.scratch.path)).toEqual([]);
  });
});

test('with --key-file - on a terminal the key is prompted for without showing it, and the other questions follow', async () => {
  await using here = await place();
  const flags = { service: sandbox.baseUrl, keyFile: '-', folder: 'inbox', feed: [] };
  const done = init(here.shell, flags);
  await asked(here.shell, 'API key');
  here.shell.keyboard.write(`${sandbox.apiKey}\n`);
  await Promise.race([asked(here.shell, 'Channel of its videos'), done]);
  here.shell.keyboard.write('ch_main\n');
  await Promise.race([asked(here.shell, 'Title of each video'), done]);
  here.shell.keyboard.write('\n');
  await done;
  expect(await readFile(here.scratch.file('dropcast.key'), 'utf8')).toBe(`${sandbox.apiKey}\n`);
});

test('a service without a channel is queried again once one was created, and no answer is lost', async () => {
  await using here = await place();
  let channels: readonly object[] = [];
  await using server = await startServer((request, response) => {
    if (request.headers.authorization !== 'Bearer abcd-1234') return response.writeHead(401).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(request.url?.includes('/channels') === true ? channels : []));
  });
  const keyFile = await here.scratch.write('given.key', 'abcd-1234');
  const done = init(here.shell, { service: `${server.origin}/v1`, keyFile, folder: 'inbox' });
  await Promise.race([asked(here.shell, 'the service has no channel yet'), done]);
  channels = [{ id: 'ch_new', name: 'New', slug: 'new' }];
  here.shell.keyboard.write('\n');
  await Promise.race([asked(here.shell, 'Channel of its videos'), done]);
  here.shell.keyboard.write('1\n');
  await Promise.race([asked(here.shell, 'Title of each video'), done]);
  here.shell.keyboard.write('\n');
  await done;
  expect(await readFile(here.scratch.file('dropcast.yaml'), 'utf8')).toContain('channel: ch_new');
});

describe('a configuration of another user', () => {
  const flags = async (scratch: ScratchDirectory) => ({
    service: sandbox.baseUrl,
    keyFile: await scratch.write('given.key', sandbox.apiKey),
    folder: 'inbox',
    channel: 'ch_main',
  });
  const foreign = [
    'service:',
    '  base_url: https://video.example.com/v1',
    '  api_key: &key "sk_\\x6cive_INLINE0001"',
    '  webhook_secret: |-',
    '    whsec_BLOCK0002',
    'folders:',
    '  - &in { path: /srv/in, rules: [{ match: "**", channel: ch_a }] }',
    '  - { <<: *in, path: /srv/other }',
    '# was: api_key: sk_live_COMMENT0003',
    '',
  ];

  test.each([
    ['with line ends of Unix', '\n'],
    ['with line ends of Windows', '\r\n'],
  ])('%s is left alone, and the difference shows no secret of it', async (_, end) => {
    await using here = await place();
    const text = foreign.join(end);
    const file = await here.scratch.write('dropcast.yaml', text);
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    const refusal = await init(shell, await flags(here.scratch)).catch((error: unknown) => String(error));
    expect(refusal).toContain('--force replaces it');
    expect(refusal).toContain('/srv/other');
    for (const secret of ['INLINE0001', 'BLOCK0002', 'COMMENT0003']) expect(refusal).not.toContain(secret);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('is kept next to the new one when --force replaces it, each time under another name, with its permissions', async () => {
    await using here = await place();
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    const given = { ...(await flags(here.scratch)), force: true };
    await writeFile(here.scratch.file('dropcast.yaml'), 'first: 1\n', { mode: 0o640 });
    await init(shell, given);
    await writeFile(here.scratch.file('dropcast.yaml'), 'second: 2\n');
    await init(shell, given);
    expect(await readFile(here.scratch.file('dropcast.yaml.~1~'), 'utf8')).toBe('first: 1\n');
    expect((await stat(here.scratch.file('dropcast.yaml.~1~'))).mode & 0o777).toBe(0o640);
    expect(await readFile(here.scratch.file('dropcast.yaml.~2~'), 'utf8')).toBe('second: 2\n');
    expect(shell.out.text).toContain('the earlier one is dropcast.yaml.~1~');
    expect((await readdir(here.scratch.path)).filter((name) => name.startsWith('dropcast.key.'))).toEqual([]);
  });

  test('that is a link is replaced by force as a link, and what it leads to stays', async () => {
    await using here = await place();
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    await mkdir(here.scratch.file('theirs'));
    const theirs = await here.scratch.write('theirs/dropcast.yaml', 'theirs: 1\n');
    await symlink(theirs, here.scratch.file('dropcast.yaml'));
    await init(shell, { ...(await flags(here.scratch)), force: true });
    expect(await readFile(theirs, 'utf8')).toBe('theirs: 1\n');
    expect(await readFile(here.scratch.file('dropcast.yaml.~1~'), 'utf8')).toBe('theirs: 1\n');
  });

  test('that cannot be read, or is a directory, is refused in a sentence', async () => {
    await using here = await place();
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    await mkdir(here.scratch.file('dropcast.yaml'));
    const given = await flags(here.scratch);
    await expect(init(shell, given)).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringContaining(`cannot read ${here.scratch.file('dropcast.yaml')}: is a directory`),
    });
    expect(existsSync(here.scratch.file('inbox'))).toBe(false);
  });
});

test('a key file that others can read is closed, also when the key in it is right', async () => {
  await using here = await place();
  const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
  await writeFile(here.scratch.file('dropcast.key'), `${sandbox.apiKey}\n`, { mode: 0o644 });
  shell.keyboard.end(sandbox.apiKey);
  await init(shell, { service: sandbox.baseUrl, keyFile: '-', folder: 'inbox', channel: 'ch_main' });
  expect((await stat(here.scratch.file('dropcast.key'))).mode & 0o777).toBe(0o600);
});

describe('--plan', () => {
  test('says what would be made and written, and writes nothing', async () => {
    await using here = await place();
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    const keyFile = await here.scratch.write('given.key', sandbox.apiKey);
    const flags = { service: sandbox.baseUrl, keyFile, folder: 'inbox', channel: 'ch_main', plan: true };
    await init(shell, flags);
    expect(shell.out.text).toBe(
      [
        `Folder: would create ${here.scratch.file('inbox')}`,
        `Configuration: would write ${here.scratch.file('dropcast.yaml')}`,
        '',
      ].join('\n'),
    );
    expect(await readdir(here.scratch.path)).toEqual(['given.key']);
  });

  test('of a file that says something else shows the difference', async () => {
    await using here = await place();
    const shell = fakeShell({ cwd: here.scratch.path, env: here.shell.env as Record<string, string> });
    await here.scratch.write('dropcast.yaml', 'mine: 1\n');
    const keyFile = await here.scratch.write('given.key', sandbox.apiKey);
    await init(shell, { service: sandbox.baseUrl, keyFile, folder: 'inbox', channel: 'ch_main', plan: true });
    expect(shell.out.text).toContain('would replace');
    expect(shell.out.text).toContain('only with --force');
    expect(shell.out.text).toContain('\n  - mine: 1\n');
    expect(await readFile(here.scratch.file('dropcast.yaml'), 'utf8')).toBe('mine: 1\n');
  });
});

/** Root as a share with `root_squash` sees it: nobody in particular. */
async function asSquashedRoot(script: string, cwd: string): Promise<unknown> {
  const source = `import { access } from 'node:fs/promises';
    import { checkFolder } from ${JSON.stringify(join(root, 'src/cli/setup/check-folder.ts'))};
    import { openFor } from ${JSON.stringify(join(root, 'src/cli/systemd/probe-access.ts'))};
    const shell = { cwd: ${JSON.stringify(cwd)}, home: '/', env: {} };
    const home = { file: '/etc/dropcast/dropcast.yaml', stateDir: '/var/lib/dropcast' };
    const service = { uid: 12345, gids: new Set([12345]) };
    const isOpenToService = async (path) => (await openFor(service, path)) === true;
    console.log(JSON.stringify(await (${script})));`;
  const node = [process.execPath, '--conditions=source', '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)('setpriv', ['--bounding-set=-dac_override,-dac_read_search', ...node]);
  return JSON.parse(stdout);
}

describe('the folder', () => {
  test(
    'that is closed to root, as on a share with root_squash, is taken if the service may read it',
    needs('root'),
    async () => {
      await using here = await place();
      await chmod(here.scratch.path, 0o755);
      for (const [name, owner] of [
        ['theirs', 12345],
        ['strange', 54321],
      ] as const) {
        await mkdir(here.scratch.file(name), { mode: 0o700 });
        await chown(here.scratch.file(name), owner, owner);
      }
      const script = `Promise.all([
      checkFolder('theirs', { ...home, isOpenToService }, shell),
      checkFolder('strange', { ...home, isOpenToService }, shell),
      checkFolder('theirs', home, shell),
      checkFolder('strange/new', { ...home, isOpenToService }, shell),
    ])`;
      expect(await asSquashedRoot(script, here.scratch.path)).toEqual([
        { ok: true, value: { path: here.scratch.file('theirs'), isThere: true } },
        { ok: false, why: expect.stringContaining('can be read neither by root nor by the service') },
        { ok: false, why: expect.stringContaining('cannot be read by you') },
        { ok: false, why: expect.stringContaining('permission denied') },
      ]);
    },
  );

  test(
    'that may only be read is taken: nothing is written there unless after_ready says so',
    needs('root'),
    async () => {
      await using here = await place();
      await chmod(here.scratch.path, 0o755);
      await mkdir(here.scratch.file('inbox'), { mode: 0o755 });
      await chown(here.scratch.file('inbox'), 12345, 12345);
      expect(await asSquashedRoot(`checkFolder('inbox', home, shell)`, here.scratch.path)).toMatchObject({ ok: true });
    },
  );
});
