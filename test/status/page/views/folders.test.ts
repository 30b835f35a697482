import { describe, expect, test } from 'vitest';
import type { Daemon } from '../../../../src/daemon/daemon.ts';
import { folders } from '../../../../src/status/page/views/folders.ts';
import type { OperatorPause } from '../../../../src/pipeline/events.ts';
import type { FolderStatus } from '../../../../src/intake/folder-status.ts';
import { sumOfAccounts } from '../../../../src/watch/inventory.ts';
import { someFolder } from '../../../view/picture/some-picture.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

const now = new Date(2026, 10, 22, 14, 2, 11).getTime();

function show(...all: FolderStatus[]) {
  return showPaused(all, []);
}

function showPaused(all: readonly FolderStatus[], paused: readonly OperatorPause[], mayChange = false, claim?: string) {
  const pauses = { list: () => paused, all: () => paused.find(({ folder }) => folder === null) ?? null };
  const frozenFolders = () => all.map(({ path }) => ({ path, why: 'it is away', claim }));
  const daemon = { folders: { status: () => all, frozenFolders }, pauses } as unknown as Daemon;
  return folders(someWorld(daemon, { now, mayChange }));
}

const accounts = { ...sumOfAccounts([]), seen: 9, settling: 2, known: { done: 5, failed: 1 }, refused: 1 };

test.each<[Partial<FolderStatus>, RegExp]>([
  [{ state: 'watching' }, /watching/],
  [
    { state: 'starting', why: 'scanning all of its files for the first time' },
    /first scan Scanning all of its files for the first time\./,
  ],
  [{ state: 'scanning', why: 'the limit of inotify watches is reached' }, /scans only The limit of inotify/],
  [{ state: 'frozen', why: 'it is not mounted' }, /frozen It is not mounted\./],
  [{ by: 'events and scans' }, /events and frequent scans/],
  [{ last_event_at: now - 70_000 }, /Last event 14:01 \(1 min 10 s ago\)/],
  [{}, /Last event none since the start/],
  [{ last_scan_at: now - 3_600_000, last_scan_ms: 1_500 }, /Last scan 13:02 \(1 h ago\), took 1\.5 s/],
  [{ next_scan_at: now + 300_000 }, /Next scan 14:07 \(in 5 min\)/],
  [{ is_scanning: true }, /Next scan under way/],
  [{ done_marker: '{name}.done', without_marker: 3 }, /Done marker \{name\}\.done Without their marker 3 files/],
  [{ accounts }, /9 paths in it 2 settling 5 done 1 failed 1 refused/],
])('a folder with %j says so', async (some, words) => {
  expect(await wordsOf(show(someFolder(some)))).toMatch(words);
});

test('where only scans find files, the page expects no event', async () => {
  expect(await wordsOf(show(someFolder({ by: 'scans' })))).not.toContain('Last event');
});

describe('paths that are left alone', () => {
  const paths = [
    { path: 'a\u202egpj.mp4', why: 'it is a symbolic link' },
    { path: '<b>.mp4', why: 'it is a device' },
  ];

  test('are all there by name, with their reasons', async () => {
    const words = await wordsOf(show(someFolder({ refused_paths: paths, accounts: { ...accounts, refused: 2 } })));
    expect(words).toContain('2 paths left alone');
    expect(words).toContain('a[U+202E]gpj.mp4 it is a symbolic link');
    expect(words).toContain('<b>.mp4 it is a device');
    expect(words).not.toContain('more are not listed');
  });

  test('of a flood the first are there, and the number of the others', async () => {
    const words = await wordsOf(show(someFolder({ refused_paths: paths, accounts: { ...accounts, refused: 5_002 } })));
    expect(words).toContain('5,000 more are not listed');
  });
});

test('a state leads to its files', async () => {
  const html = String(await show(someFolder({ accounts })).body);
  expect(html).toContain('href="/files?folder=%2Fsrv%2Fin&amp;state=failed"');
});

describe('a pause set by a person', () => {
  const pause = { folder: '/srv/in', since: now - 600_000, until: now + 3_600_000, by: 'anna' };

  test('of a folder is said there, with who set it and until when', async () => {
    const words = await wordsOf(showPaused([someFolder()], [pause]));
    expect(words).toContain('paused watching Its files wait: paused by anna since 13:52 until 15:02.');
  });

  test('of everything is said once, above all folders', async () => {
    const words = await wordsOf(showPaused([someFolder(), someFolder({ path: '/b' })], [{ ...pause, folder: null }]));
    expect(words).toMatch(/^Everything is paused by anna since 13:52 until 15:02\. dropcast resume --all ends that\./);
    expect(words.match(/paused/g)).toHaveLength(1);
  });

  test('has a button only for users who may change things', async () => {
    const forms = async (paused: OperatorPause[], mayChange: boolean) =>
      [...String(await showPaused([someFolder()], paused, mayChange).body).matchAll(/action="([^"]*)"/g)].map(
        ([, to]) => to,
      );
    expect(await forms([], false)).toEqual([]);
    expect(await forms([], true)).toEqual(['/folders/pause?folder=%2Fsrv%2Fin']);
    expect(await forms([pause], true)).toEqual(['/folders/resume?folder=%2Fsrv%2Fin']);
  });
});
