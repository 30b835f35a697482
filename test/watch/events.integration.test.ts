import { watch } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEvents } from '../../src/watch/events.ts';
import type { FolderEvents } from '../../src/watch/events.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { eventually } from '../support/until.ts';
import { WatchedDirectory, deaf } from './watched-directory.ts';

interface Heard {
  readonly events: FolderEvents;
  /** Paths that something happened to, and files that were found there by a look. */
  readonly named: Set<string>;
  readonly found: Set<string>;
}

/** The events of a folder in which all that ends in `.mp4` may be a file. Resolves once its watches are in place. */
async function hear(root: string): Promise<Heard> {
  const named = new Set<string>();
  const found = new Set<string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = openEvents({
    root,
    backend: 'auto',
    leavesOut: () => false,
    mayBeFile: (path) => path.endsWith('.mp4'),
    onEvent: (path) => named.add(relative(root, path)),
    onFile: (path) => found.add(relative(root, path)),
    onError: () => undefined,
    onCaughtUp: resolve,
  });
  await promise;
  return { events, named, found };
}

describe('what the kernel names', () => {
  test('is not examined when it may be a file: its listener does that', async () => {
    await using base = await scratchDirectory();
    await writeFile(base.file('before.mp4'), 'content');
    const { events, named, found } = await hear(base.path);
    await using _ = events;
    await writeFile(base.file('clip.mp4'), 'content');
    // The events of a directory are worked through in their order.
    await writeFile(base.file('last.txt'), 'content');
    await eventually('the last one was looked at', () => expect(found).toContain('last.txt'));
    expect(named).toContain('clip.mp4');
    expect([...found]).toEqual(['before.mp4', 'last.txt']);
  });

  test('is watched, if it is a directory and is reported as one', async () => {
    await using base = await scratchDirectory();
    const { events, named } = await hear(base.path);
    await using _ = events;
    await mkdir(base.file('bundle.mp4'));
    await eventually('it is named', () => expect(named).toContain('bundle.mp4'));
    events.watch(base.file('bundle.mp4'));
    let count = 0;
    await eventually('what is in it is named', async () => {
      await writeFile(base.file('bundle.mp4', `${(count += 1)}.mp4`), 'content');
      expect([...named].some((path) => path.startsWith('bundle.mp4/'))).toBe(true);
    });
  });

  test('below a directory with such a name, which was there before, is heard', async () => {
    await using base = await scratchDirectory();
    await mkdir(base.file('bundle.mp4', 'inner.mp4'), { recursive: true });
    const { events, named } = await hear(base.path);
    await using _ = events;
    await writeFile(base.file('bundle.mp4', 'inner.mp4', 'clip.mp4'), 'content');
    await eventually('it is named', () => expect(named).toContain('bundle.mp4/inner.mp4/clip.mp4'));
  });
});

describe('a directory that is named like a video', () => {
  test('and comes later is watched, and so are those in it', async () => {
    await using inbox = await WatchedDirectory.create({ folder: { accepts: () => 'media' } });
    await inbox.watcher.start();
    await mkdir(inbox.at('bundle.mp4/inner'), { recursive: true });
    await writeFile(inbox.at('bundle.mp4/inner/first.mp4'), 'content');
    await eventually('it is taken', () => expect(inbox.paths).toEqual(['bundle.mp4/inner/first.mp4']));
    await writeFile(inbox.at('bundle.mp4/inner/second.mp4'), 'content');
    await eventually('the other is taken', () => expect(inbox.paths).toContain('bundle.mp4/inner/second.mp4'));
  });
});

test('each scan tells which directories there are, whatever the events missed', async () => {
  const told: string[] = [];
  await using inbox = await WatchedDirectory.create({
    openEvents: (options) => ({ ...deaf(options), watch: (directory) => void told.push(directory) }),
  });
  await inbox.watcher.start();
  await mkdir(inbox.at('shows/late'), { recursive: true });
  await inbox.watcher.rescan();
  expect(told).toEqual([inbox.at('shows'), inbox.at('shows/late')]);
});

test('others in the process use fs.watch in each of its forms', async () => {
  await using base = await scratchDirectory();
  const heard: unknown[] = [];
  const hears =
    (form: string) =>
    (...[, name]: readonly unknown[]): unknown =>
      heard.push(`${form} ${String(name)}`);
  const watchers = [
    watch(base.path).on('change', hears('one')),
    watch(base.path, hears('two')),
    watch(base.path, {}, hears('three')),
  ];
  onTestFinished(() => watchers.forEach((watcher) => watcher.close()));
  await writeFile(base.file('a.mp4'), 'content');
  const all = ['one a.mp4', 'two a.mp4', 'three a.mp4'];
  await eventually('each hears of it', () => expect(heard).toEqual(expect.arrayContaining(all)));
});
