import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { FolderConfig } from '../../src/config/config.ts';
import { isThere } from '../../src/disk/local-files.ts';
import { Folders } from '../../src/intake/folders.ts';
import { WatchedFolder } from '../../src/intake/watched-folder.ts';
import { createIntake } from '../../src/intake/intake.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { recordingEvents, rowsOf } from '../pipeline/held-rows.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { noRoots } from '../watch/no-roots.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { someVersion } from '../pipeline/some-facts.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { eventually } from '../support/until.ts';
import { openInbox } from './inbox.ts';
import { someFolderConfig, someRule } from '../support/folder-config.ts';

const folderConfig = (path: string, other: Partial<FolderConfig> = {}): FolderConfig =>
  someFolderConfig(path, { rules: [someRule({ match: 'news/**' })], ...other });

interface Ledger {
  /** May reject. */
  readonly onKnown?: () => Promise<void>;
}

async function open(make: (scratch: ScratchDirectory) => readonly FolderConfig[], { onKnown }: Ledger = {}) {
  const scratch = await scratchDirectory();
  await mkdir(scratch.file('news'));
  const store = new MemoryStore();
  const events = recordingEvents();
  const rows = rowsOf(store, events);
  const log: string[] = [];
  const line = (message: string): void => void log.push(message);
  let ids = 0;
  const intake = createIntake({
    store,
    rows,
    local: {
      hash: () => Promise.reject(new Error('nothing is hashed here')),
      checksums: async () => ({ ok: true, value: [] }),
    },
    runner: {
      apply: async (id) => {
        await rows.claim(id, (row) => row.write({ end: 'vanished' }));
        return 'applied';
      },
    },
    clock: new TestClock(),
    newId: () => `f_${(ids += 1)}`,
    exists: isThere,
  });
  const folders = new Folders({
    owner: null,
    roots: noRoots,
    leftBehind: async () => undefined,
    stoppedFiles: async () => [],
    doubtRows: async () => undefined,
    config: { folders: make(scratch) },
    intake,
    ledger: {
      known: async (folder, tell) => {
        await onKnown?.();
        const rows = store.all.filter((facts) => facts.folder === folder && stateOf(facts) !== 'vanished');
        for (const facts of rows) tell({ ...facts, state: stateOf(facts) });
      },
      atPath: (folder, path) => store.atPath(folder, path),
      pathsNamed: (folder, stem) => store.pathsNamed(folder, stem),
      rows: (wanted) => store.rows(wanted),
      movedBy: async () => [],
      firstStart: (folder) => store.firstStart(folder),
      saveFirstStart: (folder, record) => store.saveFirstStart(folder, record),
    },
    events,
    logger: { error: line, warn: line, info: line, debug: () => undefined },
    broke: (error) => expect(error).toBeUndefined(),
    tookIn: () => undefined,
  });
  const states = (): readonly string[] => store.all.map((facts: Facts) => `${facts.path} ${stateOf(facts)}`);
  return {
    scratch,
    store,
    events,
    log,
    folders,
    states,
    [Symbol.asyncDispose]: async () => {
      await folders[Symbol.asyncDispose]();
      await scratch[Symbol.asyncDispose]();
    },
  };
}

describe('a complete file is recorded', () => {
  test('with the plan of its rule, or held with the code of what is missing', async () => {
    await using there = await open(({ path }) => [folderConfig(path)]);
    const { scratch, store, folders, states } = there;
    await writeFile(scratch.file('news/a.mp4'), 'content');
    await writeFile(scratch.file('other.mp4'), 'content');
    await writeFile(scratch.file('news/b.mp4'), 'content');
    await writeFile(scratch.file('news/b.yaml'), 'chanel: x');
    await folders.start();
    await eventually('all are taken in', () => expect(store.all).toHaveLength(3));
    expect(states().toSorted()).toEqual(['news/a.mp4 queued', 'news/b.mp4 held', 'other.mp4 held']);
    const codes = Object.fromEntries(store.all.map(({ path, lastFailure }) => [path, lastFailure?.code ?? null]));
    expect(codes).toEqual({ 'news/a.mp4': null, 'news/b.mp4': 'sidecar', 'other.mp4': 'no_rule' });
    await rm(scratch.file('news/b.yaml'));
    await eventually('the sidecar is missed', () => expect(states()).toContain('news/b.mp4 queued'));
    expect(store.all.find(({ path }) => path === 'news/b.mp4')?.lastFailure).toBeNull();
  });

  test('once, also when it is added by hand at the same time', async () => {
    await using there = await open(({ path }) => [folderConfig(path)]);
    const { scratch, store, folders } = there;
    await folders.start();
    await writeFile(scratch.file('news/a.mp4'), 'content');
    const added = await Promise.all([1, 2, 3].map(() => folders.add(scratch.file('news/a.mp4'))));
    expect(added.filter(({ ok }) => ok).length).toBeGreaterThan(0);
    await folders.rescan();
    await eventually('nothing settles', () => expect(folders.isSettling()).toBe(false));
    expect(store.all).toHaveLength(1);
  });

  test.each([
    ['missing.mp4', 'there is no such file'],
    ['news', 'it is not a regular file'],
    ['empty.mp4', 'it is empty'],
    ['news/a.yaml', 'it is a sidecar: add its video instead'],
    ['/../key.mp4', 'it is not in a watched folder'],
    ['/news/../../key.mp4', 'it is not in a watched folder'],
    ['news/a.mp4/../../../key.mp4', 'it is not in a watched folder'],
    ['linked/key.mp4', expect.stringMatching(/linked" is a link or not a directory; dropcast does not follow links$/)],
    ['news/linked.mp4', 'it is not a regular file'],
    ['.hidden.mp4', 'names like .* are left alone (any program): rename it'],
    ['news/.hidden/a.mp4', 'names like .* are left alone (any program): rename it'],
    ['a.mp4.part', 'names like *.part are left alone (Firefox, yt-dlp and others): rename it'],
  ])('not if it is added by hand and is %s', async (name, why) => {
    await using there = await open(({ file }) => [folderConfig(file('in'))]);
    const { scratch, store } = there;
    await mkdir(scratch.file('in/news/.hidden'), { recursive: true });
    await writeFile(scratch.file('in/empty.mp4'), '');
    await writeFile(scratch.file('in/news/a.yaml'), 'title: A');
    for (const path of ['key.mp4', 'in/.hidden.mp4', 'in/news/.hidden/a.mp4', 'in/a.mp4.part', 'in/a.txt'])
      await writeFile(scratch.file(path), 'of others');
    await symlink(scratch.path, scratch.file('in/linked'));
    await symlink(scratch.file('key.mp4'), scratch.file('in/news/linked.mp4'));
    await there.folders.start();
    expect(await there.folders.add(`${scratch.file('in')}/${name}`)).toEqual({ ok: false, why });
    expect(store.all).toEqual([]);
  });
});

test('a sidecar that is offered while its folder goes away has to come again', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('a.yaml'), 'title: A');
  const ignore = (): never => expect.unreachable();
  await using folder = new WatchedFolder(
    { folder: folderConfig(scratch.path), nested: [], movedBy: [] },
    {
      intake: { accept: ignore, compare: ignore, gone: ignore, closed: ignore, reroute: ignore },
      ledger: Object.assign(new MemoryStore([]), { known: ignore }),
      events: recordingEvents(),
      logger: silentLogger,
      owner: null,
      roots: noRoots,
      leftBehind: ignore,
      stoppedFiles: ignore,
      doubtRows: ignore,
      broke: ignore,
      tookIn: ignore,
    },
  );
  const sidecar = { folder: scratch.path, path: 'a.yaml', kind: 'sidecar', version: someVersion, flaw: null } as const;
  await folder.complete(sidecar);
  await rm(scratch.file('a.yaml'));
  await expect(folder.complete(sidecar)).rejects.toThrow('a.yaml');
});

describe('another configuration', () => {
  test('routes what no rule took, and leaves folders that stay the same alone', async () => {
    await using there = await open(({ path, file }) => [folderConfig(path), folderConfig(file('../none'))]);
    const { scratch, store, folders, events, states } = there;
    await writeFile(scratch.file('a.mp4'), 'content');
    await folders.start();
    await eventually('it is held', () => expect(states()).toEqual(['a.mp4 held']));
    const rules = [someRule()];
    const before = events.told.filter(({ type }) => type === 'folder').length;
    await folders.change({ folders: [folderConfig(scratch.path, { rules }), folderConfig(scratch.file('../none'))] });
    await eventually('it is queued', () => expect(states()).toEqual(['a.mp4 queued']));
    expect(store.row('f_1')).toMatchObject({ plan: { channel: 'ch_main' }, lastFailure: null });
    // The folder that is missing was neither closed nor opened again.
    expect(events.told.filter(({ type }) => type === 'folder').slice(before)).toMatchObject([
      { folder: scratch.path, state: 'watching' },
    ]);
  });

  test('routes what no rule took once its folder is back', async () => {
    await using there = await open(({ file }) => [folderConfig(file('news'), { rescanMs: 50 })]);
    const { scratch, store, folders, states } = there;
    await writeFile(scratch.file('news/a.mp4'), 'content');
    await folders.start();
    await eventually('it is held', () => expect(states()).toEqual(['a.mp4 held']));
    await rename(scratch.file('news'), scratch.file('away'));
    const rules = [someRule()];
    await folders.change({ folders: [folderConfig(scratch.file('news'), { rules, rescanMs: 50 })] });
    await eventually('the folder is away', () => expect(folders.frozenFolders()).toHaveLength(1));
    await eventually('all that the change began is over', () => expect(folders.isSettling()).toBe(false));
    await rename(scratch.file('away'), scratch.file('news'));
    await folders.rescan();
    await eventually('it is queued', () => expect(states()).toEqual(['a.mp4 queued']));
    expect(store.all).toHaveLength(1);
  });

  test('leaves no moment in which a missing file of a folder counts as gone', async () => {
    await using there = await open(({ path }) => [folderConfig(path)]);
    const { scratch, folders } = there;
    await folders.start();
    const changing = folders.change({ folders: [folderConfig(scratch.path, { settleMs: 30 })] });
    expect(await folders.whyAway(scratch.path)).toBe('it is not being watched');
    await changing;
    expect(await folders.whyAway(scratch.path)).toBeNull();
  });

  test('that cannot be applied because the ledger fails is applied by the next reload', async () => {
    let isBroken = false;
    const onKnown = async (): Promise<void> => {
      if (isBroken) throw new Error('the ledger cannot be read');
    };
    await using there = await open(({ file }) => [folderConfig(file('news'))], { onKnown });
    const { scratch, folders, states } = there;
    await folders.start();
    await writeFile(scratch.file('a.mp4'), 'content');
    const after = { folders: [folderConfig(scratch.path)] };
    isBroken = true;
    await expect(folders.change(after)).rejects.toThrow('the ledger');
    isBroken = false;
    await folders.change(after);
    await eventually('the file is taken in', () => expect(states()).toEqual(['a.mp4 held']));
  });

  test('that comes with the end opens nothing', async () => {
    await using there = await open(({ path }) => [folderConfig(path)]);
    const { scratch, folders } = there;
    await folders.start();
    const changing = folders.change({ folders: [folderConfig(scratch.file('news'))] });
    await folders[Symbol.asyncDispose]();
    await changing;
    expect(folders.status().map(({ path }) => path)).not.toContain(scratch.file('news'));
    await folders.change({ folders: [folderConfig(scratch.file('news'))] });
    expect(folders.status().map(({ path }) => path)).not.toContain(scratch.file('news'));
  });
});

test('the state of a folder is reported on every change, and counted', async () => {
  await using there = await open(({ file }) => [folderConfig(file('news'))]);
  const { scratch, folders, events } = there;
  await folders.start();
  await eventually('the first scan is over', () => expect(folders.unscanned()).toEqual([]));
  expect(folders.status()).toMatchObject([{ state: 'watching', why: null }]);
  await rename(scratch.file('news'), scratch.file('away'));
  await folders.rescan();
  expect(folders.status()).toMatchObject([{ state: 'frozen', why: expect.stringContaining('not exist') }]);
  expect(folders.frozenFolders()).toHaveLength(1);
  expect(await folders.whyAway(scratch.file('news'))).toContain('not exist');
  await rename(scratch.file('away'), scratch.file('news'));
  await folders.rescan();
  const folder = scratch.file('news');
  expect(events.told).toEqual([
    { type: 'folder', folder, state: 'watching', why: null },
    { type: 'folder', folder, state: 'frozen', why: expect.stringContaining('not exist') },
    { type: 'folder', folder, state: 'watching', why: null },
  ]);
});

test('a video that lacks its done marker says so, is not waited for, and is taken in with it', async () => {
  await using inbox = await openInbox({ config: { settleMs: 3_600_000, doneMarker: '{name}.{ext}.done' } });
  await writeFile(inbox.at('clip.mp4'), 'content');
  await inbox.start();
  const why = 'waiting for clip.mp4.done';
  await eventually('it waits', () => expect(inbox.folders.settling()).toMatchObject([{ path: 'clip.mp4', why }]));
  await eventually('nothing else is waited for', () => expect(inbox.folders.isSettling()).toBe(false));
  await writeFile(inbox.at('clip.mp4.done'), '');
  await inbox.rescan();
  const proofs = [{ path: 'clip.mp4.done', sha256: expect.any(String) }];
  const rows = [{ path: 'clip.mp4', plan: { proofs } }];
  await eventually('it is taken in', async () => expect(await inbox.rows()).toMatchObject(rows));
  const [queued] = await inbox.rows();
  await rm(inbox.at('clip.mp4.done'));
  await inbox.rescan();
  await eventually('it is missed', () => expect(inbox.folders.isSettling()).toBe(false));
  expect(await inbox.rows()).toEqual([queued]);
});
