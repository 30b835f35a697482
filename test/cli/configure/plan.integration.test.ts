import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { once } from '../../../src/cli/run/once.ts';
import { plan } from '../../../src/cli/configure/plan.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { PlanView } from '../../../src/daemon/plan/summary.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { someFacts, someVersion } from '../../pipeline/some-facts.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { loadedConfig, writeConfig, type Settings } from '../../support/configuration.ts';
import { servedControl } from '../../daemon/served-control.ts';

const media = new URL('../../media/', import.meta.url);

const settings: Settings = {
  publish: { quiet: '100ms' },
  retry: { first: '100ms', max: '200ms' },
  folders: [
    { path: 'in', rules: [{ match: 'news/**', channel: 'ch_news', publish: ['feed_news'], priority: 'high' }] },
    { path: 'podcasts' },
  ],
};

/** Two folders and a configuration. */
async function inFolders(service: { readonly baseUrl: string }): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  for (const folder of ['in/news', 'in/other', 'podcasts']) await mkdir(scratch.file(folder), { recursive: true });
  await writeConfig(scratch, { ...settings, service: { base_url: service.baseUrl } });
  return scratch;
}

function commandsIn(scratch: ScratchDirectory, key: string) {
  const options = { config: scratch.file('dropcast.yaml'), json: true };
  const run = async (command: (shell: ReturnType<typeof fakeShell>) => Promise<unknown>): Promise<string> => {
    const shell = fakeShell({ env: { KEY: key }, cwd: scratch.path });
    await command(shell);
    return shell.out.text;
  };
  return {
    plan: async (path?: string, hash = true) =>
      JSON.parse(await run((shell) => plan(shell, { ...options, hash }, path))) as PlanView,
    words: () => run((shell) => plan(shell, { ...options, json: false, hash: true })),
    once: async () =>
      JSON.parse(await run((shell) => once(shell, { ...options, wait: 10_000 }))) as { files: readonly FileView[] },
  };
}

const countOf = (files: readonly FileView[], state: string): number =>
  files.filter((file) => file.state === state).length;

test('a plan says how many files and requests it will be, and then it is so', async () => {
  const asked: string[] = [];
  await using service = await runSandbox({
    onExchange: ({ method, url }) => void asked.push(`${method} ${new URL(url).pathname}`),
  });
  await using scratch = await inFolders(service.sandbox);
  const drop = (sample: string, to: string): Promise<void> => copyFile(new URL(sample, media), scratch.file(to));
  await drop('clip.mp4', 'in/news/one.mp4');
  await drop('phone-vertical.mp4', 'in/news/two.mp4');
  await drop('clip.mp4', 'in/news/copy.mp4');
  await drop('clip.mp4', 'in/other/nowhere.mp4');
  await drop('interview.mp3', 'podcasts/talk.mp3');
  await drop('clip.mp4', 'podcasts/again.mp4');
  await drop('camera.mov', 'in/news/damaged.mov');
  await writeFile(scratch.file('in/news/damaged.mov.md5'), '0'.repeat(32));
  await writeFile(scratch.file('in/news/notes.txt'), 'nothing of ours');
  const commands = commandsIn(scratch, service.sandbox.apiKey);

  const before = await commands.plan();
  expect(before).toMatchObject({
    upload: { files: 3 },
    duplicates: { files: 2 },
    held: [
      {
        path: scratch.file('in/news/damaged.mov'),
        why: expect.stringContaining('differs from its checksum') as unknown,
      },
      { path: scratch.file('in/other/nowhere.mp4'), why: 'no rule matches' },
    ],
    rules: [
      { rule: 'folders[0].rules[0]', files: 2, priority: 'high' },
      { rule: 'folders[1].rules[0]', files: 1, priority: 'normal' },
    ],
    ignored: 1,
    requests: { create: 4, publish: 1 },
  });
  expect(before.upload.bytes).toBe(
    (await Promise.all(['clip.mp4', 'phone-vertical.mp4', 'interview.mp3'].map((name) => stat(new URL(name, media)))))
      .map(({ size }) => size)
      .reduce((sum, size) => sum + size),
  );
  expect(await commands.plan(undefined, false)).toMatchObject({
    upload: { files: 6 },
    duplicates: { files: 0 },
    possible_duplicates: { files: 2 },
  });
  expect(await commands.plan('podcasts')).toMatchObject({ upload: { files: 2 }, folders: [{ files: 2 }] });
  // Nothing was sent, and nothing written.
  expect(asked).toEqual([]);
  expect(await readdir(scratch.path)).not.toContain('state');
  expect(await readdir(scratch.file('in'))).toEqual(['news', 'other']);

  // Copies that come while the first one is on its way wait for it, which would only take time here.
  const copies = ['in/news/copy.mp4', 'podcasts/again.mp4'];
  for (const copy of copies) await rm(scratch.file(copy));
  const first = (await commands.once()).files;
  expect([countOf(first, 'done'), countOf(first, 'held')]).toEqual([before.upload.files, before.held.length]);
  const requests = (name: RegExp): number => asked.filter((request) => name.test(request)).length;
  expect(requests(/^POST \/v1\/videos$/)).toBe(before.requests.create);
  expect(requests(/^POST \/v1\/feeds\/[^/]*\/publish$/)).toBe(before.requests.publish);

  for (const copy of copies) await drop('clip.mp4', copy);
  const second = await commands.plan();
  expect(second).toMatchObject({ upload: { files: 0 }, duplicates: { files: 2 }, held: [], requests: { create: 0 } });
  const again = (await commands.once()).files.filter(({ path }) => copies.some((copy) => path.endsWith(copy)));
  expect(countOf(again, 'skipped')).toBe(second.duplicates.files);
  expect(requests(/^POST \/v1\/videos$/)).toBe(before.requests.create);

  const after = await commands.plan();
  expect(after).toMatchObject({ upload: { files: 0 }, held: [], known: 7, requests: { total: 0 } });
  expect(await commands.words()).toContain('Nothing new to upload.');
});

test.each([
  ['a different directory is at its path', null],
  ['most of its files were missing at once', { is: 'missing', before: 29 } as const],
])('nothing that lies where an unmounted folder was is planned, also without a daemon: %s', async (_when, doubt) => {
  await using scratch = await inFolders({ baseUrl: 'http://127.0.0.1:9/v1' });
  await copyFile(new URL('clip.mp4', media), scratch.file('in/news/below.mp4'));
  {
    await using ledger = await openLedger(scratch.file('state'));
    const folder = scratch.file('in');
    await ledger.insert(
      someFacts({ folder, path: 'news/old.mp4', end: 'done', version: { ...someVersion, dev: '77' } }),
    );
    const { dev, ino, birthtimeNs } = await stat(folder, { bigint: true });
    const here = { device: String(dev), inode: String(ino), born: String(birthtimeNs) };
    const away = { device: '77', inode: '2', born: '1' };
    const identity = { ...(doubt === null ? away : here), kind: '61267', mount: '/', mark: 'ab', since: 1 };
    await ledger.roots.save(folder, { identity, doubt });
  }
  const view = await commandsIn(scratch, 'key').plan();
  expect(view).toMatchObject({ upload: { files: 0 }, requests: { total: 0 } });
  expect(view.folders.map((folder) => [folder.files, folder.why])).toEqual([
    [0, expect.stringContaining(doubt === null ? 'dropcast resume' : 'missing at once')],
    [0, null],
  ]);
});

test('a running daemon makes the plan: for what it has not taken in yet, and with what is on its way', async () => {
  await using service = await runSandbox();
  await using scratch = await inFolders(service.sandbox);
  const config = await loadedConfig(scratch, {
    ...settings,
    service: { base_url: service.sandbox.baseUrl, api_key: service.sandbox.apiKey },
  });
  await using daemon = await startDaemon(config, silentLogger);
  await using _ = await servedControl(daemon, config.status.socket);
  await copyFile(new URL('clip.mp4', media), scratch.file('in/news/one.mp4'));
  await until('it is done', async () => (await daemon.ledger.totals('by state'))['done'] === 1);
  await copyFile(new URL('clip.mp4', media), scratch.file('in/news/copy.mp4.part'));
  const commands = commandsIn(scratch, service.sandbox.apiKey);
  expect(await commands.plan()).toMatchObject({ known: 1, upload: { files: 0 }, duplicates: { files: 0 } });
});
