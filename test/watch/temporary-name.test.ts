import { expect, test } from 'vitest';
import { isTemporaryName } from '../../src/watch/temporary-name.ts';

test.each([
  '.hidden.mp4',
  '.cache/clip.mp4',
  'a/.b/c.mp4',
  '.~lock.clip.mp4#',
  '.nfs000123',
  '.syncthing.clip.mp4.tmp',
  '.smbdeleteAB12',
  'clip.mp4.part',
  'clip.PARTIAL',
  'clip.tmp',
  'clip.Temp',
  'x.crdownload',
  'x.mp4.download/x.mp4',
  'x.filepart',
  'x.!ut',
  'x.!qB',
  'x.!QB',
  'x.aria2',
  'clip.mp4~',
  '~$clip.mp4',
  '~syncthing~clip.mp4.tmp',
  'clip.swp',
  'Thumbs.db',
  'THUMBS.DB',
  'desktop.ini',
  '@eaDir/clip.mp4',
  'lost+found/x.mp4',
  '$RECYCLE.BIN/x.mp4',
  'System Volume Information/x.mp4',
  '_UNPACK_show/clip.mp4',
  'a/_unpack_b/c.mp4',
])('%s is left alone', (path) => {
  expect(isTemporaryName(path)).toBe(true);
});

test.each([
  'clip.mp4',
  'a/b c/clip.mp4',
  'part.mp4',
  'clip.part.mp4',
  'department.mp4',
  'tmp/clip.mp4',
  'clip.download.mp4',
  'thumbs.db.mp4',
  'my lost+found.mp4',
  'a~b.mp4',
  '~clip.mp4',
  'x_UNPACK_.mp4',
  'new\nline.mp4',
  '🎬.mp4',
])('%s is not', (path) => {
  expect(isTemporaryName(path)).toBe(false);
});
