import { expect, test } from 'vitest';
import { includedExtensions, mediaExtensionOf } from '../../src/config/media-extensions.ts';
import { LeftOutFiles, leftOutWords } from '../../src/watch/inventory.ts';

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
