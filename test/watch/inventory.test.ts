import { expect, test } from 'vitest';
import { includedExtensions, mediaExtensionOf } from '../../src/config/media-extensions.ts';
import { LeftOutFiles, leftOutWords, Inventory, lostFiles, sidecarState } from '../../src/watch/inventory.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import { startWaiting } from '../../src/watch/waiting-file.ts';

const gathered = (paths: readonly string[], isExcluded = (_path: string): boolean => false) => {
  const files = new LeftOutFiles(isExcluded);
  for (const path of paths) files.add(path);
  return files.summary();
};

test('files that look like video are counted by extension, and listed first', () => {
  const summary = gathered(['notes.txt', 'a/one.WMV', 'two.mts', 'three.wmv']);
  expect(summary).toEqual({
    files: 4,
    media: 3,
    extensions: ['.wmv', '.mts'],
    paths: ['a/one.WMV', 'two.mts', 'three.wmv', 'notes.txt'],
  });
  expect(leftOutWords(summary)).toBe('4 left out; 3 look like video: .wmv, .mts');
});

test('the words name only what there is', () => {
  expect(leftOutWords(gathered([]))).toBe('');
  expect(leftOutWords(gathered(['a.txt']))).toBe('1 left out');
  expect(leftOutWords(gathered(['a.mts']))).toBe('1 left out; 1 looks like video: .mts');
});

test('files that `exclude` names are left out on purpose', () => {
  expect(gathered(['a_proxy.mov', 'b.mov'], (path) => path.includes('proxy'))).toMatchObject({ files: 2, media: 1 });
});

test('a million files take bounded room', () => {
  const { files, paths, extensions } = gathered(Array.from({ length: 1_000_000 }, (_, n) => `${n}.mts`));
  expect(files).toBe(1_000_000);
  expect(paths).toHaveLength(1_000);
  expect(extensions).toEqual(['.mts']);
});

test.each(['clip.mts', 'CLIP.MTS', 'a.b/clip.3gp', 'x.braw'])('%s looks like media', (path) => {
  expect(mediaExtensionOf(path)).not.toBeNull();
});

test.each(['mts', 'clip', 'clip.', 'clip.mts/notes', 'clip.mp4.txt'])('%s does not', (path) => {
  expect(mediaExtensionOf(path)).toBeNull();
});

test.each('mts m2t 3gp 3g2 wmv asf flv f4v ogv vob qt m2v dv aac aiff opus'.split(' '))('.%s is included', (one) => {
  expect(includedExtensions).toContain(one);
});

const version = (size: number): FileVersion => ({
  dev: '1',
  ino: '2',
  birthtimeNs: '3',
  size,
  mtimeNs: '4',
  ctimeNs: '5',
});

interface Case {
  /** What the watcher takes the ledger to have: its size and state. */
  readonly had?: readonly [number, string];
  readonly isWaiting?: true;
  /** What the ledger has now. */
  readonly has?: readonly [number, string];
  readonly isLost: boolean;
  /** State of what the watcher takes the ledger to have, once it has compared; undefined: it has nothing there. */
  readonly state: string | null | undefined;
}

const cases: Readonly<Record<string, Case>> = {
  'a row is as it was': { had: [1, 'queued'], has: [1, 'queued'], isLost: false, state: 'queued' },
  'a row went back to another state': { had: [1, 'done'], has: [1, 'uploading'], isLost: false, state: 'uploading' },
  'a row is gone': { had: [1, 'queued'], isLost: true, state: 'queued' },
  'a row is of the version before': { had: [2, 'queued'], has: [1, 'done'], isLost: true, state: 'done' },
  'a sidecar has no row': { had: [1, sidecarState], isLost: false, state: sidecarState },
  'a row is back that was given up': { has: [1, 'queued'], isLost: false, state: 'queued' },
  'a row is back, and another file settles at its path': {
    isWaiting: true,
    has: [1, 'queued'],
    isLost: false,
    state: undefined,
  },
};

test.each(Object.entries(cases))('after the ledger lost its last writes, %s', async (_, each) => {
  const inventory = new Inventory();
  const { taken, waiting } = inventory;
  if (each.had !== undefined) {
    taken.set('a.mp4', version(each.had[0]));
    taken.setState('a.mp4', each.had[1]);
  }
  if (each.isWaiting) waiting.set('a.mp4', startWaiting('a.mp4', 'media', version(3), 0));
  const { has } = each;
  const lost = await lostFiles(inventory, async (tell) => {
    if (has !== undefined) tell({ path: 'a.mp4', version: version(has[0]), state: has[1] });
  });
  expect(lost).toEqual(each.isLost ? ['a.mp4'] : []);
  expect(taken.has('a.mp4') ? taken.state('a.mp4') : undefined).toBe(each.state);
});
