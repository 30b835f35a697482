import { mkdirSync, renameSync } from 'node:fs';
import { appendFile, lstat, mkdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import type { FileKind } from '../../src/watch/ports.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { eventually } from '../support/until.ts';
import { FakeClock } from './fake-clock.ts';
import { WatchedDirectory, deaf, manualEvents } from './watched-directory.ts';
import type { Setup } from './watched-directory.ts';

/** Turns of the event loop in which a look at the disk that was started would end. */
const turns = async (): Promise<void> => delay(30);

/** A watched folder `inbox` in a directory of its own, on a clock that moves only when told, with `a.mp4` offered. */
async function inboxWithFile(setup: Setup = {}) {
  const base = await scratchDirectory();
  const root = base.file('inbox');
  await mkdir(root);
  await writeFile(join(root, 'a.mp4'), 'content');
  const clock = new FakeClock();
  const events = manualEvents();
  const inbox = await WatchedDirectory.create({
    clock,
    openEvents: events.open,
    ...setup,
    folder: { ...setup.folder, path: root },
  });
  await inbox.watcher.start();
  events.opened.at(-1)?.onCaughtUp();
  await inbox.watcher.rescan();
  const settle = (paths: readonly string[]): Promise<void> =>
    eventually('the files are offered', () => {
      clock.advance(50);
      expect(inbox.paths).toEqual(paths);
    });
  await settle(['a.mp4']);
  return {
    root,
    away: base.file('away'),
    clock,
    events,
    inbox,
    settle,
    [Symbol.asyncDispose]: async () => {
      await inbox[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
}

const isMedia = (path: string): FileKind | null => (path.endsWith('.mp4') ? 'media' : null);

describe('the folder goes missing', () => {
  /** `a.mp4` and `deep/c.mp4` are offered; `onWalk` is called once the next scan has listed the root, but not `deep`. */
  async function walked(onWalk: (root: string, away: string) => void) {
    let onAccept = (): void => undefined;
    const accepts = (path: string): FileKind | null => {
      if (path === 'b.mp4') onAccept();
      return isMedia(path);
    };
    const there = await inboxWithFile({ folder: { accepts } });
    const { inbox, root, away, settle } = there;
    await mkdir(join(root, 'deep'));
    await writeFile(join(root, 'deep/c.mp4'), 'content');
    await inbox.watcher.rescan();
    await settle(['a.mp4', 'deep/c.mp4']);
    await writeFile(join(root, 'b.mp4'), 'content');
    onAccept = () => {
      onAccept = () => undefined;
      onWalk(root, away);
    };
    await inbox.watcher.rescan();
    return there;
  }

  test('while a scan walks through it: it freezes, and nothing is gone', async () => {
    await using there = await walked((root, away) => renameSync(root, away));
    const { inbox, root, away } = there;
    expect(inbox.states.at(-1)).toEqual({ state: 'frozen', why: expect.stringContaining('not exist') });
    expect(inbox.gone).toEqual([]);
    await rename(away, root);
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)).toEqual({ state: 'watching' });
    expect([inbox.paths, inbox.gone]).toEqual([['a.mp4', 'deep/c.mp4'], []]);
  });

  test('during a scan, and an empty one takes its place: a file is gone only after a look for it there', async () => {
    await using there = await walked((root, away) => {
      renameSync(root, away);
      mkdirSync(root);
    });
    const { inbox } = there;
    expect(inbox.gone).toEqual(['deep/c.mp4']);
    await inbox.watcher.rescan();
    expect(inbox.gone).toEqual(['deep/c.mp4', 'a.mp4']);
  });

  test('between a hint and the look at the file: the missing file is not gone', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, away, clock, events } = there;
    events.last().onEvent(join(root, 'a.mp4'));
    await rename(root, away);
    clock.advance(100);
    await turns();
    clock.advance(1000);
    await eventually('the folder is found away', () => expect(inbox.states.at(-1)?.state).toBe('frozen'));
    expect(inbox.gone).toEqual([]);
    await rename(away, root);
    await inbox.watcher.rescan();
    expect([inbox.paths, inbox.gone]).toEqual([['a.mp4'], []]);
  });

  test('between the look and the report: the missing file is not gone', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, away, clock, events } = there;
    await unlink(join(root, 'a.mp4'));
    events.last().onEvent(join(root, 'a.mp4'));
    clock.advance(100);
    await eventually('the look is over', () => expect(clock.delays()).toContain(1000));
    await rename(root, away);
    clock.advance(1000);
    await eventually('the folder is found away', () => expect(inbox.states.at(-1)?.state).toBe('frozen'));
    expect(inbox.gone).toEqual([]);
    await rename(away, root);
    await inbox.watcher.rescan();
    // Now it is certain.
    expect(inbox.gone).toEqual(['a.mp4']);
  });

  test('between settling and the offer: the file waits, and is offered once when the folder is back', async () => {
    await using there = await inboxWithFile({ openEvents: deaf });
    const { inbox, root, away, clock, settle } = there;
    await writeFile(join(root, 'b.mp4'), 'content');
    await inbox.watcher.rescan();
    await rename(root, away);
    await inbox.watcher.rescan();
    clock.advance(10_000);
    await turns();
    expect(inbox.paths).toEqual(['a.mp4']);
    await rename(away, root);
    await inbox.watcher.rescan();
    await settle(['a.mp4', 'b.mp4']);
    expect(inbox.gone).toEqual([]);
  });

  test('while events fail: that says nothing of its directories, and the watches are reopened when it is back', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, away, events } = there;
    await rename(root, away);
    await inbox.watcher.rescan();
    events.last().onError('EACCES', join(root, 'deep'));
    expect(inbox.states.at(-1)).toEqual({ state: 'frozen', why: expect.stringContaining('not exist') });
    const before = events.opened.length;
    await rename(away, root);
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)).toEqual({ state: 'watching' });
    expect(events.opened).toHaveLength(before + 1);
  });
});

describe('a hint', () => {
  test.each([
    ['of a known file leads to a look', null, true],
    ['that lists a known file as it was means nothing', {}, false],
    ['that lists a known file with another size leads to a look', { size: 8 }, true],
    ['that lists a known file with another time of modification leads to a look', { mtimeMs: 1 }, true],
    ['that lists a known file with another time of its inode leads to a look', { ctimeMs: 1 }, true],
  ])('%s', async (_name, listed, isLookedAt) => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('a.mp4'), 'content');
    const known = [{ path: 'a.mp4', version: versionOf(await lstat(inbox.at('a.mp4'), { bigint: true })) }];
    const clock = new FakeClock();
    const events = manualEvents();
    await using second = await WatchedDirectory.create({
      clock,
      known,
      openEvents: events.open,
      folder: { path: inbox.path },
    });
    await second.watcher.start();
    const before = clock.timers;
    const path = inbox.at('a.mp4');
    if (listed === null) events.last().onEvent(path);
    else events.last().onFile(path, Object.assign(await lstat(path), listed));
    expect(clock.timers - before).toBe(isLookedAt ? 1 : 0);
  });

  test('of a new file while the watches catch up is not lost', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, settle, events } = there;
    await writeFile(join(root, 'b.mp4'), 'content');
    events.last().onEvent(join(root, 'b.mp4'));
    await settle(['a.mp4', 'b.mp4']);
    expect(inbox.gone).toEqual([]);
  });

  test('of a change while the sink has the file makes it settle again', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let offers = 0;
    const onComplete = async (): Promise<void> => {
      offers += 1;
      if (offers === 2) await released;
    };
    await using there = await inboxWithFile({ onComplete });
    const { inbox, root, clock, events } = there;
    await writeFile(join(root, 'b.mp4'), 'one');
    events.last().onEvent(join(root, 'b.mp4'));
    await eventually('it is offered', () => {
      clock.advance(50);
      expect(offers).toBe(2);
    });
    await appendFile(join(root, 'b.mp4'), ' two');
    events.last().onEvent(join(root, 'b.mp4'));
    release();
    await eventually('its new version is offered', () => {
      clock.advance(50);
      expect(inbox.completed.map(({ version }) => version.size)).toEqual([7, 3, 7]);
    });
  });

  test('of a missing file that the sink cannot note now leads to another report, but only half a minute later', async () => {
    let isBusy = true;
    const onGone = async (): Promise<void> => {
      if (isBusy) throw new Error('busy');
    };
    await using there = await inboxWithFile({ onGone });
    const { inbox, root, clock, events } = there;
    await unlink(join(root, 'a.mp4'));
    events.last().onEvent(join(root, 'a.mp4'));
    const passes = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        await turns();
      }
    };
    await eventually('it is reported', async () => {
      clock.advance(500);
      expect(inbox.gone).toEqual(['a.mp4']);
    });
    await passes(20);
    expect(inbox.gone).toEqual(['a.mp4']);
    expect(inbox.watcher.counts()).toMatchObject({ seen: 1, offered: 1 });
    isBusy = false;
    await eventually('it is reported again', async () => {
      clock.advance(1000);
      expect(inbox.gone).toEqual(['a.mp4', 'a.mp4']);
    });
    await eventually('it is forgotten', () => expect(inbox.watcher.counts().seen).toBe(0));
  });

  test('of a file that became a link leads to a refusal, and the file that was is gone', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, clock, events } = there;
    await unlink(join(root, 'a.mp4'));
    await symlink('/etc/passwd', join(root, 'a.mp4'));
    events.last().onEvent(join(root, 'a.mp4'));
    clock.advance(100);
    await eventually('it is refused', () => expect(inbox.watcher.counts().refused).toBe(1));
    expect(inbox.watcher.counts()).toEqual({ seen: 1, settling: 0, offered: 0, ignored: 0, refused: 1 });
  });
});

describe('the watcher is closed', () => {
  test('while its first scan runs: it stops, reports nothing more and leaves no timer', async () => {
    await using folder = await WatchedDirectory.create();
    for (let n = 0; n < 200; n += 1) await writeFile(folder.at(`${n}.mp4`), 'content');
    const clock = new FakeClock();
    const events = manualEvents();
    let accepted = 0;
    const closing: PromiseLike<void>[] = [];
    await using inbox = await WatchedDirectory.create({
      clock,
      openEvents: events.open,
      folder: {
        path: folder.path,
        accepts: (path) => {
          accepted += 1;
          if (closing.length === 0) closing.push(inbox.watcher[Symbol.asyncDispose]());
          return isMedia(path);
        },
      },
    });
    await inbox.watcher.start();
    await Promise.all(closing);
    const seen = accepted;
    clock.advance(3_600_000);
    await turns();
    expect(accepted).toBe(seen);
    expect(seen).toBeLessThan(400);
    expect([clock.timers, events.opened.length]).toEqual([0, 0]);
    expect([inbox.completed, inbox.gone, inbox.states]).toEqual([[], [], [{ state: 'watching' }]]);
  });

  test('while the look at the folder takes its time: its state is not reported afterwards', async () => {
    const { promise: known, resolve } = Promise.withResolvers<void>();
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf, knownAfter: known });
    const begun = inbox.watcher.begin();
    await inbox.watcher[Symbol.asyncDispose]();
    resolve();
    await begun;
    expect(inbox.states).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  test('while the sink has a file: it waits for the sink, and offers nothing else', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let offers = 0;
    const onComplete = async (): Promise<void> => {
      offers += 1;
      if (offers > 1) await released;
    };
    await using there = await inboxWithFile({ onComplete });
    const { inbox, root, clock } = there;
    await writeFile(join(root, 'b.mp4'), 'content');
    await inbox.watcher.rescan();
    await eventually('it is offered', () => {
      clock.advance(50);
      expect(offers).toBe(2);
    });
    let isClosed = false;
    const closing = inbox.watcher[Symbol.asyncDispose]().then(() => (isClosed = true));
    await turns();
    expect(isClosed).toBe(false);
    release();
    await closing;
    expect([inbox.paths, clock.timers]).toEqual([['a.mp4', 'b.mp4'], 0]);
  });

  test('while missing files are looked for: none is reported, and no timer is left', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, clock, events } = there;
    await unlink(join(root, 'a.mp4'));
    events.last().onEvent(join(root, 'a.mp4'));
    clock.advance(100);
    await eventually('the look is over', () => expect(clock.delays()).toContain(1000));
    clock.advance(1000);
    await inbox.watcher[Symbol.asyncDispose]();
    expect([inbox.gone, clock.timers]).toEqual([[], 0]);
  });

  test('and events still come: they mean nothing', async () => {
    await using there = await inboxWithFile();
    const { inbox, root, clock, events } = there;
    await inbox.watcher[Symbol.asyncDispose]();
    events.last().onEvent(join(root, 'b.mp4'));
    events.last().onEvent(root);
    events.last().onError('ENOSPC');
    events.last().onCaughtUp();
    expect(clock.timers).toBe(0);
    expect(inbox.states).toEqual([{ state: 'watching' }]);
  });
});
