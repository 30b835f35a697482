import { spawnSync } from 'node:child_process';
import { lstat, mkdir, rm, writeFile, lchown, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import type { RootRecord, RootStore } from '../../src/watch/ports.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { eventually } from '../support/until.ts';
import { WatchedDirectory, deaf } from './watched-directory.ts';
import { RootCheck } from '../../src/watch/root-check.ts';

/** A folder that is a mount of a real file system, and a daemon's memory of it that outlives its watchers. */
class MountedFolder implements AsyncDisposable {
  readonly root: string;
  readonly #base: Awaited<ReturnType<typeof scratchDirectory>>;
  readonly #mounts: string[] = [];
  #records = new Map<string, RootRecord>();
  readonly store: RootStore = {
    load: async (folder) => this.#records.get(folder) ?? null,
    save: async (folder, record) => void this.#records.set(folder, record),
    expected: async (_, paths) => paths.filter((path) => this.known.has(path)).length,
  };
  /** Paths in the ledger. */
  readonly known = new Set<string>();
  #inbox: WatchedDirectory | null = null;

  static async create(): Promise<MountedFolder> {
    const base = await scratchDirectory();
    const folder = new MountedFolder(base);
    for (const name of ['inbox', 'one', 'two']) await mkdir(base.file(name));
    for (const name of ['one', 'two']) {
      folder.#mount('-t', 'tmpfs', 'tmpfs', base.file(name));
      await mkdir(base.file(name, 'share'));
      // The time of birth has the granularity of the kernel's tick.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // A file that somebody left under the mount point.
    await writeFile(join(folder.root, 'under.mp4'), 'content');
    return folder;
  }

  private constructor(base: Awaited<ReturnType<typeof scratchDirectory>>) {
    this.#base = base;
    this.root = base.file('inbox');
  }

  mount(disk: 'one' | 'two'): void {
    this.#mount('--bind', this.#base.file(disk, 'share'), this.root);
  }

  /** What looks at it keeps it busy for a moment. */
  async unmount(): Promise<void> {
    await eventually('it is unmounted', () => expect(spawnSync('umount', [this.root]).status).toBe(0));
    this.#mounts.splice(this.#mounts.lastIndexOf(this.root), 1);
  }

  drop(disk: 'one' | 'two', name: string): Promise<void> {
    return writeFile(this.#base.file(disk, 'share', name), 'content');
  }

  async start(): Promise<WatchedDirectory> {
    const versions = [...this.known].map(async (path) => {
      const at = this.#base.file('one', 'share', path);
      return { path, version: versionOf(await lstat(at, { bigint: true })) };
    });
    const inbox = await WatchedDirectory.create({
      folder: { path: this.root },
      known: await Promise.all(versions),
      roots: this.store,
      openEvents: deaf,
      onComplete: async ({ path }) => void this.known.add(path),
    });
    this.#inbox = inbox;
    await inbox.watcher.start();
    return inbox;
  }

  async stop(): Promise<void> {
    await this.#inbox?.[Symbol.asyncDispose]();
    this.#inbox = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const path of this.#mounts.toReversed()) spawnSync('umount', ['-l', path]);
    await this.#base[Symbol.asyncDispose]();
  }

  #mount(...args: readonly string[]): void {
    expect(spawnSync('mount', [...args]).status).toBe(0);
    this.#mounts.push(args.at(-1) ?? '');
  }
}

/** What the folder has when the mount goes. */
const contents = ['nothing', 'a file that settles', 'a file that was taken'] as const;
/** When it goes: while dropcast runs, or while it does not. */
const moments = ['live', 'while dropcast is stopped'] as const;
/** What lies at the path then. */
const changes = ['unmounted', 'another disk'] as const;

const cells = contents.flatMap((content) =>
  moments.flatMap((moment) => changes.map((change) => [content, moment, change] as const)),
);

describe('a folder on a share', needs('mount'), () => {
  test.for(cells)(
    'with %s, %s: %s, it freezes, and resumes once the share is back',
    async ([content, moment, change]) => {
      await using folder = await MountedFolder.create();
      await folder.drop('two', 'stranger.mp4');
      folder.mount('one');
      let inbox = await folder.start();
      if (content !== 'nothing') await folder.drop('one', 'a.mp4');
      if (content === 'a file that settles') await inbox.watcher.rescan();
      if (content === 'a file that was taken') {
        await inbox.watcher.rescan();
        await eventually('it was taken', () => expect(inbox.paths).toEqual(['a.mp4']));
      }
      if (moment !== 'live') await folder.stop();
      await folder.unmount();
      if (change === 'another disk') folder.mount('two');
      if (moment !== 'live') inbox = await folder.start();
      const before = inbox.paths;
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)).toMatchObject({ state: 'frozen', why: expect.stringContaining('dropcast resume') });
      // Longer than anything needs to settle.
      await new Promise((resolve) => setTimeout(resolve, 200));
      await inbox.watcher.rescan();
      expect([inbox.paths, inbox.gone]).toEqual([before, []]);

      if (change === 'another disk') await folder.unmount();
      folder.mount('one');
      await folder.drop('one', 'later.mp4');
      await inbox.watcher.rescan();
      await eventually('the new file is taken', () => expect(inbox.paths).toContain('later.mp4'));
      expect(inbox.states.at(-1)).toMatchObject({ state: 'watching' });
      expect(inbox.gone).toEqual([]);
      expect(folder.known).not.toContain('stranger.mp4');
      expect(folder.known).not.toContain('under.mp4');
      expect(inbox.paths.filter((path) => path === 'a.mp4').length).toBeLessThan(2);
    },
  );

  test('mounted only after the start is accepted automatically while nothing was known', async () => {
    await using folder = await MountedFolder.create();
    await rm(join(folder.root, 'under.mp4'));
    const inbox = await folder.start();
    expect(inbox.states).toMatchObject([{ state: 'watching' }]);
    await folder.drop('one', 'a.mp4');
    folder.mount('one');
    await inbox.watcher.rescan();
    await eventually('the file on the share is taken', () => expect(inbox.paths).toEqual(['a.mp4']));
    await folder.stop();
    await folder.unmount();
    const again = await folder.start();
    expect(again.states.at(-1)).toMatchObject({
      state: 'frozen',
      why: expect.stringContaining('nothing is mounted at'),
    });
  });

  test('of the same disk, bound over the empty folder after the start, is accepted automatically', async () => {
    await using base = await scratchDirectory();
    const [path, bound] = [base.file('inbox'), base.file('bound')];
    await mkdir(bound);
    await writeFile(join(bound, 'a.mp4'), 'content');
    // Certainly older than what dropcast takes for the folder.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await mkdir(path);
    await using inbox = await WatchedDirectory.create({ folder: { path }, openEvents: deaf });
    await inbox.watcher.start();
    expect(spawnSync('mount', ['--bind', bound, path]).status).toBe(0);
    try {
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)).toMatchObject({ state: 'watching' });
      await eventually('its file is taken', () => expect(inbox.paths).toEqual(['a.mp4']));
    } finally {
      spawnSync('umount', ['-l', path]);
    }
  });

  test('that is frozen resumes with the current directory on request, also after a restart', async () => {
    await using folder = await MountedFolder.create();
    await folder.drop('one', 'a.mp4');
    folder.mount('one');
    const inbox = await folder.start();
    await eventually('it was taken', () => expect(inbox.paths).toEqual(['a.mp4']));
    await folder.unmount();
    folder.mount('two');
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)).toMatchObject({ state: 'frozen' });
    await folder.drop('two', 'b.mp4');
    expect(await inbox.watcher.resume()).toMatchObject({ ok: true });
    await eventually('what is there is taken', () => expect(inbox.paths).toEqual(['a.mp4', 'b.mp4']));
    expect(inbox.gone).toEqual(['a.mp4']);
    await folder.stop();
    folder.known.clear();
    const again = await folder.start();
    expect(again.states.at(-1)).toMatchObject({ state: 'watching' });
  });

  test('that is fine has nothing to resume', async () => {
    await using folder = await MountedFolder.create();
    folder.mount('one');
    const inbox = await folder.start();
    expect(await inbox.watcher.resume()).toMatchObject({ ok: false, why: expect.stringContaining('is not frozen') });
  });
});

const isRoot = process.geteuid?.() === 0;

test.runIf(isRoot)('a folder that another user replaces by a link is away, at the start and later', async () => {
  await using scratch = await scratchDirectory();
  const folder = scratch.file('sub/in');
  await mkdir(folder, { recursive: true });
  const check = (): RootCheck => new RootCheck({ path: folder, mark: async () => null });
  const before = check();
  expect(await before.look(new Map())).toEqual({ isSound: true });
  await mkdir(scratch.file('other/in'), { recursive: true });
  await rename(scratch.file('sub'), scratch.file('old'));
  // Relative, and not the last name: each part of the way counts.
  await symlink('other', scratch.file('sub'));
  for (const root of [before, check()]) {
    await lchown(scratch.file('sub'), 0, 0);
    expect(await root.look(new Map())).toEqual({ isSound: true });
    await lchown(scratch.file('sub'), 4444, 4444);
    expect(await root.look(new Map())).toMatchObject({
      isSound: false,
      why: expect.stringContaining('belongs to another user'),
    });
  }
});
