import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { eventually } from '../support/until.ts';
import type { OpenEvents } from '../../src/watch/events.ts';
import { deaf, fastClock, WatchedDirectory } from './watched-directory.ts';

/** Watches that are in place and never hear anything. */
const silent: OpenEvents = (options) => {
  queueMicrotask(() => options.onCaughtUp());
  return deaf(options);
};

/** Many times as fast as time: a probe is given ten seconds. */
const clock = fastClock(50);

describe('events of a folder', () => {
  test('that do not arrive are noticed: it is scanned often instead, and says why', async () => {
    await using inbox = await WatchedDirectory.create({ openEvents: silent, clock });
    await inbox.watcher.start();
    await eventually('it says so', () =>
      expect(inbox.states.at(-1)).toMatchObject({
        state: 'scanning',
        why: expect.stringContaining('no event of a test file arrived'),
      }),
    );
    await writeFile(inbox.at('clip.mp4'), 'content');
    await eventually('the file is found by a scan', () => expect(inbox.paths).toEqual(['clip.mp4']));
    await eventually('no test file stays', async () => expect(await readdir(inbox.path)).toEqual(['clip.mp4']));
  });

  test('that arrive again are trusted again', async () => {
    let isDeaf = true;
    const open: OpenEvents = (options) => {
      queueMicrotask(() => options.onCaughtUp());
      // As chokidar would.
      const timer = setInterval(() => {
        if (!isDeaf) options.onEvent(join(options.root, '.dropcast-probe'));
      }, 5);
      return { ...deaf(options), [Symbol.asyncDispose]: async () => clearInterval(timer) };
    };
    await using inbox = await WatchedDirectory.create({ openEvents: open, clock });
    await inbox.watcher.start();
    await eventually('it is deaf', () => expect(inbox.states.at(-1)?.state).toBe('scanning'));
    isDeaf = false;
    await eventually('it hears', () => expect(inbox.states.at(-1)).toEqual({ state: 'watching' }));
  });

  test('that arrive leave nothing behind and are no news', async () => {
    await using inbox = await WatchedDirectory.create({ clock: fastClock(1) });
    await inbox.watcher.start();
    await eventually('they were tested', () =>
      expect(inbox.log).toContainEqual(expect.objectContaining({ message: 'events arrive' })),
    );
    await eventually('the test file is gone', async () => expect(await readdir(inbox.path)).toEqual([]));
    await inbox.watcher.rescan();
    expect(inbox.states).toEqual([{ state: 'watching' }]);
    expect(inbox.watcher.counts()).toMatchObject({ seen: 0, ignored: 0 });
  });

  test.each([
    [false, 'cannot test whether events arrive: no file can be written (EROFS)'],
    [true, 'read-only for dropcast (after_ready: keep)'],
  ])(
    'cannot be tested in a read-only folder; that dropcast only reads it is %o',
    needs('mount'),
    async (isOnlyRead, why) => {
      await using base = await scratchDirectory();
      const root = base.file('inbox');
      await mkdir(root);
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', root]);
      try {
        await using inbox = await WatchedDirectory.create({ folder: { path: root, isOnlyRead }, clock });
        await inbox.watcher.start();
        await eventually('it says so', () => expect(inbox.states.at(-1)).toMatchObject({ state: 'watching', why }));
      } finally {
        spawnSync('umount', [root]);
      }
    },
  );

  test('are not tested where the folder is only scanned', async () => {
    await using inbox = await WatchedDirectory.create({ folder: { watch: 'polling' }, openEvents: silent, clock });
    await inbox.watcher.start();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(inbox.states).toEqual([{ state: 'watching' }]);
  });
});

describe('a folder on FUSE, where events of other writers do not arrive', needs('mount', 'bindfs'), () => {
  test('is scanned often, says so, waits longer for files, and comes back from an unmount with nothing sent twice', async () => {
    await using base = await scratchDirectory();
    const [behind, root] = [base.file('behind'), base.file('inbox')];
    await mkdir(join(behind, 'deep'), { recursive: true });
    await mkdir(root);
    const mount = () => expect(spawnSync('bindfs', [behind, root]).status).toBe(0);
    mount();
    const known: string[] = [];
    try {
      await using inbox = await WatchedDirectory.create({
        folder: { path: root },
        clock: fastClock(20),
        onComplete: async ({ path }) => void known.push(path),
      });
      await inbox.watcher.start();
      expect(inbox.states.at(-1)).toMatchObject({ state: 'watching', why: expect.stringContaining('FUSE') });
      // Not through the mount: as somebody on another machine.
      await writeFile(join(behind, 'a.mp4'), 'content');
      await writeFile(join(behind, 'deep/b.mp4'), 'content');
      await inbox.watcher.rescan();
      expect(inbox.watcher.settling().map(({ why }) => why)).toContainEqual(expect.stringMatching(/of 10\.3 s/));
      await eventually('they are found', () => expect(inbox.paths).toEqual(['a.mp4', 'deep/b.mp4']));

      expect(spawnSync('umount', ['-l', root]).status).toBe(0);
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)?.state).toBe('frozen');
      await rename(join(behind, 'a.mp4'), join(behind, 'c.mp4'));
      await writeFile(join(behind, 'late.mp4'), 'content');
      mount();
      await inbox.watcher.rescan();
      await eventually('it goes on', () => expect(inbox.paths).toContain('late.mp4'));
      expect(inbox.paths.filter((path) => path === 'deep/b.mp4')).toHaveLength(1);
      expect(inbox.gone).not.toContain('deep/b.mp4');
    } finally {
      spawnSync('umount', ['-l', root]);
    }
  });

  test('whose server dies is frozen until it is mounted again', async () => {
    await using base = await scratchDirectory();
    const [behind, root] = [base.file('behind'), base.file('inbox')];
    for (const path of [behind, root]) await mkdir(path);
    await writeFile(join(behind, 'a.mp4'), 'content');
    const mount = async (): Promise<ChildProcess> => {
      const server = spawn('bindfs', ['-f', behind, root], { stdio: 'ignore' });
      await eventually('it is mounted', async () => expect(await readdir(root)).toContain('a.mp4'));
      return server;
    };
    let server = await mount();
    try {
      await using inbox = await WatchedDirectory.create({ folder: { path: root }, clock: fastClock(20) });
      await inbox.watcher.start();
      await eventually('its file is taken', () => expect(inbox.paths).toEqual(['a.mp4']));
      const isGone = once(server, 'exit');
      server.kill('SIGKILL');
      await isGone;
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)).toMatchObject({ state: 'frozen', why: expect.stringContaining('ENOTCONN') });
      spawnSync('umount', ['-l', root]);
      server = await mount();
      await eventually('it goes on', () => expect(inbox.states.at(-1)?.state).toBe('watching'));
      expect([inbox.paths, inbox.gone]).toEqual([['a.mp4'], []]);
    } finally {
      server.kill('SIGKILL');
      spawnSync('umount', ['-l', root]);
    }
  });
});
