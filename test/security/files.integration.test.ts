import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inDirectory, NotInFolderError, requireWatched } from '../../src/disk/held-directory.ts';
import { openAccepted, uploadSource } from '../../src/disk/accepted-file.ts';
import { createRouter } from '../../src/intake/folder-router.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { checkBytes } from '../../src/watch/completeness.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { someFolderConfig } from '../support/folder-config.ts';
import { filesOfQuietFolders } from '../disk/quiet-folder.ts';

const secret = 'sk_of_the_service_4f9a7c21';
const film = 'the film, as it was accepted';
const isWatched = (): boolean => true;
const local = filesOfQuietFolders();
const { signal } = new AbortController();

/** A watched folder with `show/clip.mp4` in it, and beside the folder what is no business of who may write in it. */
async function folderAndOthers() {
  const base = await scratchDirectory();
  const folder = base.file('inbox');
  const others = base.file('others');
  const clip = join(folder, 'show/clip.mp4');
  await mkdir(join(folder, 'show'), { recursive: true });
  await mkdir(others);
  await writeFile(clip, film);
  await writeFile(join(others, 'clip.mp4'), 'of somebody else');
  await writeFile(join(others, 'api_key'), secret, { mode: 0o400 });
  await writeFile(join(others, 'clip.yaml'), `title: ${secret}`);
  return {
    folder,
    others,
    clip,
    version: async () => versionOf(await lstat(clip, { bigint: true })),
    facts: async (other: Partial<Facts> = {}) =>
      someFacts({
        folder,
        path: 'show/clip.mp4',
        version: versionOf(await lstat(clip, { bigint: true })),
        sha256: createHash('sha256').update(film).digest('hex'),
        ...other,
      }),
    /** `show` becomes a link to what belongs to others; the real one is kept aside. */
    swap: async () => {
      await rename(join(folder, 'show'), base.file('aside'));
      await symlink(others, join(folder, 'show'));
    },
    aside: base.file('aside'),
    [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
  };
}

type There = Awaited<ReturnType<typeof folderAndOthers>>;

type Substitute = readonly [string, (there: There) => Promise<unknown>];

/** Only root may make these. */
const devices: readonly Substitute[] = [
  ['a device that never ends', async ({ clip }) => execFileSync('mknod', [clip, 'c', '1', '5'])],
  ['a device that is a terminal', async ({ clip }) => execFileSync('mknod', [clip, 'c', '5', '0'])],
  ['a block device', async ({ clip }) => execFileSync('mknod', [clip, 'b', '7', '250'])],
];

/** What may stand at the path when the file is opened, in place of what was accepted. */
const substitutes: readonly Substitute[] = [
  ['a link to the key of the service', ({ clip, others }) => symlink(join(others, 'api_key'), clip)],
  [
    'a link to a link to it',
    async ({ clip, others }) => {
      await symlink(join(others, 'api_key'), `${clip}.2`);
      await symlink(`${clip}.2`, clip);
    },
  ],
  ['a link to itself', ({ clip }) => symlink(clip, clip)],
  ['a link to a directory', ({ clip, others }) => symlink(others, clip)],
  ['a FIFO', async ({ clip }) => makePipe(clip)],
  ['a hard link to the key', ({ clip, others }) => link(join(others, 'api_key'), clip)],
  ['a directory', ({ clip }) => mkdir(clip)],
  ['nothing', async () => {}],
  ...(process.getuid?.() === 0 ? devices : []),
];

describe('between the scan and the upload the file becomes', () => {
  test.each(substitutes)('%s: nothing of it is sent, and nothing hangs', async (_, put) => {
    await using there = await folderAndOthers();
    const facts = await there.facts();
    await unlink(there.clip);
    await put(there);
    expect(await checkBytes(there.folder, 'show/clip.mp4', facts.version, true)).not.toMatchObject({ is: 'sound' });
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    const sent = opened.send(uploadSource(facts, isWatched), `${host.origin}/u`);
    await expect(sent).rejects.toMatchObject({
      name: expect.stringMatching(/^File(Changed|Vanished|Unreadable)Error$/),
    });
    expect(host.seen).toEqual([]);
  });

  test('a socket', async () => {
    await using there = await folderAndOthers();
    const facts = await there.facts();
    await unlink(there.clip);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(there.clip, resolve));
    await expect(openAccepted(requireWatched(facts, isWatched))).rejects.toMatchObject({ name: 'FileChangedError' });
    await new Promise((resolve) => server.close(resolve));
  });

  test('FIFOs, more than there are threads: the file system still answers', async () => {
    await using there = await folderAndOthers();
    const facts = await there.facts();
    const pipes = Array.from({ length: 16 }, (_, n) => `pipe-${n}.mp4`);
    for (const pipe of pipes) makePipe(join(there.folder, pipe));
    const opened = pipes.map((path) => openAccepted(requireWatched({ ...facts, path }, isWatched)));
    const outcomes = await Promise.allSettled([...opened, readFile(there.clip)]);
    expect(outcomes.map(({ status }) => status)).toEqual([...pipes.map(() => 'rejected'), 'fulfilled']);
  });
});

describe('a directory that becomes a link to what belongs to others', () => {
  test('before the upload: nothing is sent', async () => {
    await using there = await folderAndOthers();
    const { swap } = there;
    await swap();
    // Even a version that was somehow learnt of the other file does not help.
    const version = versionOf(await stat(join(there.others, 'clip.mp4'), { bigint: true }));
    const facts = someFacts({ folder: there.folder, path: 'show/clip.mp4', version });
    await expect(openAccepted(requireWatched(facts, isWatched))).rejects.toMatchObject({ code: 'outside_folder' });
  });

  test('during the upload: what was accepted is sent, to the last byte', async () => {
    await using there = await folderAndOthers();
    await writeFile(there.clip, Buffer.alloc(3 * 1024 * 1024, 'film'));
    await writeFile(join(there.others, 'clip.mp4'), Buffer.alloc(3 * 1024 * 1024, secret));
    const hash = createHash('sha256');
    await using host = await startHost((request, response) => {
      // The connection stands, nothing was read yet: now.
      void there.swap().then(() => {
        request.on('data', (part: Buffer) => hash.update(part));
        request.on('end', () => response.end());
        request.resume();
      });
    });
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    const { sha256 } = await opened.send(uploadSource(await there.facts(), isWatched), `${host.origin}/u`);
    const accepted = createHash('sha256').update(await readFile(join(there.aside, 'clip.mp4')));
    expect(sha256).toBe(accepted.digest('hex'));
    expect(hash.digest('hex')).toBe(sha256);
  });

  test.each([
    ['deleted', { kind: 'delete' }],
    ['moved', { kind: 'move', to: 'done' }],
  ] as const)('before the file is %s: that of the others stays where it is', async (_, afterReady) => {
    await using there = await folderAndOthers();
    // As after a crash between two names: the very same file is there too, so that only the way to it differs.
    await unlink(join(there.others, 'clip.mp4'));
    await link(there.clip, join(there.others, 'clip.mp4'));
    const facts = await there.facts({ afterReady });
    await there.swap();
    expect(await local.dispose(facts, signal, true)).toMatchObject({
      ok: false,
      failure: { kind: 'permanent', code: 'outside_folder', message: expect.stringContaining('is a link') },
    });
    expect((await readdir(there.others)).toSorted()).toEqual(['api_key', 'clip.mp4', 'clip.yaml']);
  });

  test('during work in it: the work stays in the directory that it was', async () => {
    await using there = await folderAndOthers();
    await inDirectory({ folder: there.folder, directory: 'show' }, async (held) => {
      await there.swap();
      expect(await readFile(held.at('clip.mp4'), 'utf8')).toBe(film);
      await unlink(held.at('clip.mp4'));
    });
    expect(await readdir(there.aside)).toEqual([]);
    expect(await readFile(join(there.others, 'clip.mp4'), 'utf8')).toBe('of somebody else');
  });

  test('on the way of a moved file: not even a directory is made there', async () => {
    await using there = await folderAndOthers();
    await symlink(there.others, join(there.folder, 'done'));
    const facts = await there.facts({ afterReady: { kind: 'move', to: 'done/2026/11' } });
    expect(await local.dispose(facts, signal, true)).toMatchObject({ ok: false, failure: { code: 'outside_folder' } });
    expect((await readdir(there.others)).toSorted()).toEqual(['api_key', 'clip.mp4', 'clip.yaml']);
    expect(await readFile(there.clip, 'utf8')).toBe(film);
  });

  test('does not let a sidecar or a link file of theirs speak', async () => {
    await using there = await folderAndOthers();
    await writeFile(join(there.folder, 'show/clip.yaml'), 'title: Ours');
    await writeFile(join(there.others, 'clip.url'), `[InternetShortcut]\nURL=https://example.com/${secret}`);
    const router = createRouter(someFolderConfig(there.folder, { rules: [] }));
    expect(await router.sidecarOf('show/clip.mp4')).toMatchObject({ ok: true, sidecar: { title: 'Ours' } });
    await there.swap();
    expect(await router.sidecarOf('show/clip.mp4')).toEqual({ ok: true, sidecar: null });
    expect(await router.sourceUrl('show/clip.url')).toEqual({
      ok: false,
      why: expect.stringContaining('no longer there'),
    });
  });
});

describe('a sidecar', () => {
  test.each<readonly [string, (there: There, sidecar: string) => Promise<unknown>]>([
    ['a link to a sidecar of others', ({ others }, sidecar) => symlink(join(others, 'clip.yaml'), sidecar)],
    ['a FIFO', async (_, sidecar) => makePipe(sidecar)],
    ['a directory', (_, sidecar) => mkdir(sidecar)],
    ['larger than a sidecar is', (_, sidecar) => writeFile(sidecar, `title: ${'x'.repeat(300 * 1024)}`)],
    ['not UTF-8', (_, sidecar) => writeFile(sidecar, Buffer.from([0x74, 0xff, 0xfe]))],
    ['nested too deeply', (_, sidecar) => writeFile(sidecar, `tags: ${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
    ['a bomb of aliases', (_, sidecar) => writeFile(sidecar, bomb)],
    ['of a tag of YAML', (_, sidecar) => writeFile(sidecar, 'title: !!js/function "() => 1"')],
    ['of a tag of the configuration', (_, sidecar) => writeFile(sidecar, 'title: !file /etc/passwd')],
    ['of the key of the language', (_, sidecar) => writeFile(sidecar, '__proto__: { title: x }')],
    ['with a type that no title has', (_, sidecar) => writeFile(sidecar, 'title: { a: 1 }')],
    ['with a channel that leads elsewhere', (_, sidecar) => writeFile(sidecar, 'channel: ../../feeds/x')],
  ])('that is %s holds the file, with a reason and nothing of what is in it', async (_, put) => {
    await using there = await folderAndOthers();
    await put(there, join(there.folder, 'show/clip.yaml'));
    const route = await createRouter(someFolderConfig(there.folder, { rules: [] })).route(
      'show/clip.mp4',
      await there.version(),
    );
    expect(route).toMatchObject({ kind: 'held', why: expect.stringContaining('sidecar "clip.yaml"') });
    expect(JSON.stringify(route)).not.toMatch(/sk_of|root:/);
    expect(({} as { title?: unknown }).title).toBeUndefined();
  });

  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]', ...Array.from('bcdefgh', (c, n) => line(c, 'abcdefgh'.charAt(n)))].join(
    '\n',
  );
  function line(name: string, before: string): string {
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`;
  }
});

describe('a hard link to a file', () => {
  // To make one needs write permission for the file (proc_sys_fs(5), protected_hardlinks): who can make it could copy the file.
  test('is a file like any other, and only its own name is removed', async () => {
    await using there = await folderAndOthers();
    await link(there.clip, join(there.others, 'original.mp4'));
    expect(await checkBytes(there.folder, 'show/clip.mp4', await there.version(), true)).toEqual({ is: 'sound' });
    expect(await local.dispose(await there.facts({ afterReady: { kind: 'delete' } }), signal, true)).toMatchObject({
      ok: true,
    });
    expect(await readFile(join(there.others, 'original.mp4'), 'utf8')).toBe(film);
  });
});

describe('a path that would lead out', () => {
  test.each(['..', '../others', 'show/../../others', 'show/..'])('%s is not gone down', async (directory) => {
    await using there = await folderAndOthers();
    const work = inDirectory({ folder: there.folder, directory }, async () => 'done');
    await expect(work).rejects.toBeInstanceOf(NotInFolderError);
  });

  test('an error names the path that a person knows, and no descriptor', async () => {
    await using there = await folderAndOthers();
    const work = inDirectory({ folder: there.folder, directory: 'show' }, (held) => unlink(held.at('away.mp4')));
    await expect(work).rejects.toThrow(`unlink '${there.folder}/show/away.mp4'`);
  });

  test('no descriptor stays open, whatever happens', async () => {
    await using there = await folderAndOthers();
    const before = await openIn(there.folder);
    for (const directory of ['show', 'show/deeper', '..', 'missing']) {
      await inDirectory({ folder: there.folder, directory, make: directory === 'show/deeper' }, async () => {
        throw new Error('at work');
      }).catch(() => {});
    }
    expect(await openIn(there.folder)).toEqual(before);
  });
});

test(
  'a file that goes to another disk is copied from what it is, not from where a name leads',
  needs('mount'),
  async () => {
    await using there = await folderAndOthers();
    const done = join(there.folder, 'done');
    await mkdir(done);
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', done]);
    try {
      const facts = await there.facts({ afterReady: { kind: 'move', to: 'done' } });
      expect(await local.dispose(facts, signal, true)).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
      expect(await readFile(join(done, 'clip.mp4'), 'utf8')).toBe(film);
      expect(await readdir(done)).toEqual(['clip.mp4']);
    } finally {
      spawnSync('umount', [done]);
    }
  },
);

async function openIn(folder: string): Promise<readonly string[]> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(folder)).toSorted();
}

/** Whoever waits for its other end would hold a thread for ever, and the end of the tests with it: it is opened then. */
function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
  onTestFinished(() => void spawnSync('sh', ['-c', 'test ! -p "$0" || exec 3<>"$0"', path]));
}
