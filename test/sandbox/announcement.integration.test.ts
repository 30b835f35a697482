import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSandbox } from './running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { readAnnouncement } from '../../packages/sandbox/src/data-folder.ts';

test('a running sandbox announces its addresses in its data folder, for the owner alone, and removes that when it stops', async () => {
  await using folder = await scratchDirectory();
  const path = join(folder.path, 'sandbox.json');
  {
    await using service = await runSandbox({ dataDir: folder.path, tls: true, adminToken: 'a+b/c=' });
    const { baseUrl, adminUrl, adminToken, pageUrl, caPath } = service.sandbox;
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      v: 1,
      pid: process.pid,
      base_url: baseUrl,
      admin_url: adminUrl,
      admin_token: adminToken,
      page_url: pageUrl,
      ca_path: caPath,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readAnnouncement(folder.path))?.admin_url).toBe(adminUrl);
    expect(new URL(pageUrl).searchParams.get('token')).toBe('a+b/c=');
  }
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('replaces the announcement of a killed sandbox, even one readable by others', async () => {
  await using folder = await scratchDirectory();
  await writeFile(join(folder.path, 'sandbox.json'), '{"v":1}', { mode: 0o644 });
  await writeFile(join(folder.path, 'sandbox.json.new'), 'half', { mode: 0o644 });
  await using service = await runSandbox({ dataDir: folder.path });
  expect((await readAnnouncement(folder.path))?.base_url).toBe(service.sandbox.baseUrl);
  expect((await stat(join(folder.path, 'sandbox.json'))).mode & 0o777).toBe(0o600);
});

test('announces an address that leads to it from this machine, whatever others call it', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({
    dataDir: folder.path,
    exposed: true,
    externalUrl: 'https://sandbox.example',
  });
  expect(service.sandbox.adminUrl).toBe('https://sandbox.example/_sandbox');
  const { admin_url: url, admin_token: token } = (await readAnnouncement(folder.path)) ?? {};
  const answer = await fetch(`${url}/keys`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
});

test.each(['', '{', '[]', '{"v":2}', '{"v":1,"pid":1,"base_url":"file:///x"}'])(
  'an announcement %j is none',
  async (text) => {
    await using folder = await scratchDirectory();
    expect(await readAnnouncement(folder.path)).toBeUndefined();
    await writeFile(join(folder.path, 'sandbox.json'), text);
    expect(await readAnnouncement(folder.path)).toBeUndefined();
  },
);
