import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { listen } from '../../support/server.ts';
import { dropcast, startDropcast, type DropcastProcess } from '../../e2e/dropcast-process.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);

interface ReadyLine {
  readonly base_url: string;
  readonly api_key: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly page_url: string;
  readonly ca_path?: string;
}

async function ready(process: DropcastProcess): Promise<ReadyLine> {
  await until('the sandbox is ready', () => process.output().includes('\n'));
  return JSON.parse(process.output()) as ReadyLine;
}

test.concurrent('says in one line of JSON where everything is, and leaves nothing behind', async () => {
  await using tmp = await scratchDirectory();
  await using sandbox = startDropcast(['sandbox', '--memory', '--port', '0', '--json', '--tls'], { TMPDIR: tmp.path });
  const facts = await ready(sandbox);
  expect(sandbox.output().split('\n')).toHaveLength(2);
  expect(facts).toEqual({
    v: 1,
    base_url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/v1$/),
    api_key: expect.stringMatching(/^sk_sandbox_/),
    admin_url: expect.stringMatching(/\/_sandbox$/),
    admin_token: expect.stringMatching(/^[\w-]{32}$/),
    page_url: expect.stringContaining('/?token='),
    ca_path: expect.stringContaining(tmp.path),
  });
  const asked = ['-sS', '--cacert', facts.ca_path ?? '', '-H'];
  const { stdout } = await run('curl', [
    ...asked,
    `Authorization: Bearer ${facts.api_key}`,
    `${facts.base_url}/channels`,
  ]);
  expect(stdout).toContain('ch_main');
  const seeded = await run('curl', [
    ...asked,
    `Authorization: Bearer ${facts.admin_token}`,
    '--json',
    '{"videos":2,"days":1}',
    `${facts.admin_url}/seed`,
  ]);
  expect(seeded.stdout).toContain('"videos":2');
  expect(await readdir(tmp.path)).toHaveLength(1);
  expect(await sandbox.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  expect(await readdir(tmp.path)).toEqual([]);
});

test.concurrent('prints the addresses, the key, the page and a configuration that dropcast accepts', async () => {
  await using data = await scratchDirectory();
  await using sandbox = startDropcast(['sandbox', '--port', '0', '--data', data.path, '--upload-origin', 'separate']);
  await until('the sandbox is ready', () => sandbox.output().includes('Ctrl-C'));
  const announced = JSON.parse(await readFile(join(data.path, 'sandbox.json'), 'utf8')) as ReadyLine;
  const said = sandbox.output();
  for (const part of [announced.base_url, announced.page_url, announced.admin_url, 'service:', 'curl -H'])
    expect(said).toContain(part);
  const command = /curl -H .*channels/.exec(said)?.[0] ?? '';
  expect((await run('sh', ['-c', `${command} -sS`])).stdout).toContain('ch_main');
  expect(await sandbox.kill('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(join(data.path, 'sandbox.json'))).toBe(false);
});

test.concurrent('a second sandbox on the same folder, a taken port and wrong options are said in a sentence', async () => {
  await using data = await scratchDirectory();
  await using first = startDropcast(['sandbox', '--port', '0', '--json', '--data', data.path]);
  await ready(first);
  await using blocker = await listen(createServer());
  const port = String(blocker.port);
  const [second, taken, both, far, odd] = await Promise.all([
    dropcast(['sandbox', '--port', '0', '--data', data.path]),
    dropcast(['sandbox', '--port', port]),
    dropcast(['sandbox', '--memory', '--data', data.path]),
    dropcast(['sandbox', '--port', '0', '--host', '0.0.0.0']),
    dropcast(['sandbox', '--port', '0', '--upload-origin', 'elsewhere']),
  ]);
  expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('in use by another sandbox') });
  expect(taken).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`port ${port}`),
  });
  expect(both).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("'--memory' cannot be used with option '--data"),
  });
  expect(far).toMatchObject({ code: 2, stderr: expect.stringContaining('--expose') });
  expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining('same, separate') });
  for (const { stderr } of [second, taken, both, far, odd]) expect(stderr).not.toMatch(/^\s+at /m);
});

describe('dropcast sandbox keys', () => {
  const list = async (args: string[], env = {}) => {
    const { stdout } = await dropcast(['sandbox', 'keys', 'list', '--json', ...args], env);
    return (
      JSON.parse(stdout) as { keys: { id: string; name: string; use_count: number; revoked_at: string | null }[] }
    ).keys;
  };

  test.concurrent('finds the running sandbox by its folder, over TLS too, and its records when it does not run', async () => {
    await using data = await scratchDirectory();
    const at = ['--data', data.path];
    const sandbox = startDropcast(['sandbox', '--port', '0', '--json', '--tls', ...at]);
    const { base_url: baseUrl, ca_path: ca = '' } = await ready(sandbox);
    const made = await dropcast(['sandbox', 'keys', 'create', 'CI', '--read-only', ...at]);
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('key_2') });
    const key = made.stdout.trim();
    const asked = async (...args: string[]) => {
      const common = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', ca];
      return (await run('curl', [...common, '-H', `Authorization: Bearer ${key}`, ...args])).stdout;
    };
    expect(await asked(`${baseUrl}/videos`)).toBe('200');
    expect(await asked('--json', '{"title":"T"}', `${baseUrl}/videos`)).toBe('403');
    expect(await list(at)).toMatchObject([{ id: 'key_1' }, { id: 'key_2', use_count: 2 }]);
    expect(await dropcast(['sandbox', 'keys', 'revoke', 'key_2', ...at])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('key_2'),
    });
    expect(await asked(`${baseUrl}/videos`)).toBe('401');
    await sandbox.kill('SIGKILL');

    expect(existsSync(join(data.path, 'sandbox.json'))).toBe(true);
    expect(await list(at)).toMatchObject([{ revoked_at: null }, { revoked_at: expect.any(String), use_count: 2 }]);
    const later = await dropcast(['sandbox', 'keys', 'create', 'later', '--json', ...at]);
    const { key: laterKey } = JSON.parse(later.stdout) as { key: string };
    await using again = startDropcast(['sandbox', '--port', '0', '--json', ...at]);
    const { base_url: newUrl } = await ready(again);
    const answer = await fetch(`${newUrl}/videos`, { headers: { authorization: `Bearer ${laterKey}` } });
    expect(answer.status).toBe(200);
    const table = await dropcast(['sandbox', 'keys', 'list', ...at]);
    expect(table.stdout.split('\n').map((line) => line.slice(0, 5))).toEqual(['ID   ', 'key_1', 'key_2', 'key_3', '']);
    expect(table.stdout).not.toContain(key);
  });

  test.concurrent('talks to an admin address with the token of the environment', async () => {
    await using sandbox = startDropcast(['sandbox', '--port', '0', '--json']);
    const { admin_url: url, admin_token: token, base_url: baseUrl } = await ready(sandbox);
    const keys = (args: string[], env: Record<string, string> = { DROPCAST_SANDBOX_TOKEN: token }) =>
      dropcast(['sandbox', 'keys', ...args], env);
    expect(await list(['--admin-url', url], { DROPCAST_SANDBOX_TOKEN: token })).toHaveLength(1);
    const refusals = await Promise.all([
      keys(['list']),
      keys(['list', '--admin-url', url], {}),
      keys(['list', '--admin-url', url, '--token', 'wrong']),
      keys(['list', '--admin-url', baseUrl]),
      keys(['list', '--admin-url', 'http://127.0.0.1:9/_sandbox']),
      keys(['list', '--admin-url', 'http://example.com/_sandbox']),
      keys(['list', '--admin-url', 'nonsense']),
      keys(['list', '--data', '/nonexistent']),
      keys(['revoke', 'key_99', '--admin-url', url]),
      keys(['create', ' ', '--admin-url', url]),
      keys(['create', '--admin-url', url]),
    ]);
    expect(refusals.map(({ code }) => code)).toEqual([2, 2, 1, 1, 3, 2, 2, 1, 1, 2, 2]);
    for (const { stdout, stderr } of refusals) {
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^\S.{10,}/);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(stderr).not.toContain(token);
    }
  });

  test.concurrent.each([
    ['sandbox', '--help'],
    ['sandbox', 'keys', '--help'],
    ['sandbox', 'keys', 'create', '--help'],
  ])('explains itself: %s %s %s', async (...args) => {
    const { code, stdout } = await dropcast(args.filter((arg) => arg !== undefined));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: dropcast sandbox/);
  });
});
