import { expect, test } from 'vitest';
import { isLeftAlone, leftAloneName, leftAloneNames } from '../../src/watch/left-alone-names.ts';

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
  '#recycle/wrong.mp4',
  'news/#Recycle/evening/wrong.mp4',
  '@Recycle/wrong.mp4',
  'a/@recently-snapshot/GMT+01/old.mp4',
  '#snapshot/GMT+01-2026.11.26/old.mkv',
  '.snapshot/hourly.0/old.mp4',
  '~snapshot/hourly.0/old.mp4',
  '.zfs/snapshot/a/old.mp4',
  '.Trash-1000/files/wrong.mp4',
  '@GMT-2026.11.26-07.00.00/old.mp4',
  'Network Trash Folder/wrong.mp4',
  'trashbox/wrong.mp4',
  'clip.temp.mp4',
  'clip.TEMP.MKV',
  'clip.tmp.ts',
  'clip.mp4.part-Frag12',
  'clip.mp4.ytdl',
  'clip.sync-conflict-20261126-101112-ABCDEFG.mp4',
  'clip.mp4.sb-5d2f4f1c-1vPcQ9',
  '2026-11-26 10-11-12.remuxed.mp4',
  'Adobe Premiere Pro Video Previews/cut.PRV/1.mpeg',
  'CacheClip/a/b.dvcc.mov',
  'Movie.fcpbundle/Original Media/a.mov',
  'a/_unpack_b/c.mp4',
])('%s is left alone', (path) => {
  expect(isLeftAlone(path)).toBe(true);
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
  'race.f1.mp4',
  'recycle/clip.mp4',
  'snapshot/clip.mp4',
  '#1 hit.mp4',
  '@home/clip.mp4',
  'room temp.mp4',
  'temp.mp4',
  'template.mp4',
  'day.temp.day one/clip.mp4',
  'found.mp4',
  'part',
  'tmp',
  'new\nline.mp4',
  '🎬.mp4',
])('%s is not', (path) => {
  expect(isLeftAlone(path)).toBe(false);
});

test('the row of the table that matches is named, and its segment of the path', () => {
  expect(leftAloneName('news/#recycle/clip.mp4')).toMatchObject({ name: '#recycle', segment: '#recycle' });
  expect(leftAloneName('clip.temp.mp4')).toMatchObject({ name: '*.temp.EXT', segment: 'clip.temp.mp4' });
  expect(leftAloneName('.Trash-1000/clip.mp4')?.program).toBe('Linux desktops');
  expect(leftAloneName('news/clip.mp4')).toBeNull();
});

test.each(leftAloneNames)('$name is found by the quick look of a scan too', ({ name }) => {
  const example = name.replace('EXT', 'mp4').replaceAll('*', 'x').replaceAll('?', '0');
  expect(isLeftAlone(example)).toBe(true);
  expect(leftAloneName(example)).not.toBeNull();
});
