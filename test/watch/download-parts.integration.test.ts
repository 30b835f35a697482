import { rename, stat, unlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually, until } from '../support/until.ts';
import { deaf, fastClock, WatchedDirectory } from './watched-directory.ts';

const whys = ({ watcher }: WatchedDirectory): Record<string, string> =>
  Object.fromEntries(watcher.settling().map(({ path, why }) => [path, why]));

test('a part of a download waits until the download is merged, and only the merged video is taken', async () => {
  await using inbox = await WatchedDirectory.create({ openEvents: deaf, clock: fastClock(50) });
  await writeFile(inbox.at('clip.f137.mp4'), 'picture');
  await writeFile(inbox.at('clip.f140.m4a.part'), 'so');
  await inbox.watcher.start();
  await eventually('it says why', () =>
    expect(whys(inbox)).toEqual({ 'clip.f137.mp4': 'part of a download: "clip.f140.m4a.part" is still being written' }),
  );
  await rename(inbox.at('clip.f140.m4a.part'), inbox.at('clip.f140.m4a'));
  await writeFile(inbox.at('clip.temp.mp4'), 'picture and sound');
  await eventually('it waits for the merge', () =>
    expect(whys(inbox)).toEqual({ 'clip.f137.mp4': 'part of a download: "clip.temp.mp4" is still being written' }),
  );
  await unlink(inbox.at('clip.f137.mp4'));
  await unlink(inbox.at('clip.f140.m4a'));
  await rename(inbox.at('clip.temp.mp4'), inbox.at('clip.mp4'));
  await inbox.watcher.rescan();
  await eventually('the video is taken', () => expect(inbox.paths).toEqual(['clip.mp4']));
  expect(inbox.watcher.settling()).toEqual([]);
});

test.each([
  ['race.f1.mp4', 'other.f1.mp4.part'],
  ['race.f1.mp4', 'race.mp4'],
  ['race.f1.mp4', 'racecar.part'],
  ['clip.mp4', 'clip.f140.m4a.part'],
])('%s next to %s is a video', async (video, neighbour) => {
  await using inbox = await WatchedDirectory.create({ openEvents: deaf });
  await writeFile(inbox.at(neighbour), 'content');
  await writeFile(inbox.at(video), 'content');
  await inbox.watcher.start();
  await eventually('it is taken', () => expect(inbox.paths).toContain(video));
});

test('a file that grows after it was taken waits for three times the pause that its writer made', async () => {
  await using inbox = await WatchedDirectory.create({ openEvents: deaf });
  const path = inbox.at('clip.mp4');
  await writeFile(path, 'half');
  await inbox.watcher.start();
  await eventually('the half is taken', () => expect(inbox.paths).toEqual(['clip.mp4']));
  const { ctimeMs } = await stat(path);
  await until('three times the pause is longer than the settle time', () => Date.now() - ctimeMs > 500);
  await writeFile(path, ' and half', { flag: 'a' });
  await inbox.watcher.rescan();
  await eventually('it waits longer than the settle time', () =>
    expect(whys(inbox)['clip.mp4']).toMatch(/its writer paused/u),
  );
});
