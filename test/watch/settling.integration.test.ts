import { lstat, writeFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { createJudge } from '../../src/watch/completeness.ts';
import { OpenWriters } from '../../src/watch/open-writers.ts';
import { startWaiting } from '../../src/watch/waiting-file.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { eventually, until } from '../support/until.ts';
import { deaf, fastClock, WatchedDirectory } from './watched-directory.ts';

const clock = { elapsed: () => 0, after: () => () => undefined };

/** Judges a file of these bytes that is unchanged for so long. */
async function judge(bytes: Buffer, unchangedMs: number) {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('clip.ts'), bytes);
  const version = versionOf(await lstat(join(scratch.path, 'clip.ts'), { bigint: true }));
  const folder = { path: scratch.path, settleMs: 1000, accepts: () => 'media' as const, markerOf: () => null };
  const decide = createJudge({
    folder,
    clock,
    writers: new OpenWriters(),
    limit: pLimit(1),
    isRootSound: async () => true,
  });
  return await decide(startWaiting('clip.ts', 'media', version, 0), unchangedMs);
}

const packet = Buffer.concat([Buffer.from('G'), Buffer.alloc(187)]);
const tail = Buffer.concat([Buffer.alloc(188 * 6, packet), packet.subarray(0, 90)]);
const why = 'the container ends in the middle of a packet (90 of 188 bytes)';

test('a file that lacks less than a packet waits for five minutes, and then passes with a doubt', async () => {
  expect(await judge(tail, 60_000)).toEqual({ is: 'wait', forMs: 240_000, why });
  expect(await judge(tail, 300_000)).toEqual({ is: 'complete', flaw: null, isUnreadable: false, doubt: why });
});

test('a web page never passes, and does not wait longer than a damaged file', async () => {
  const page = Buffer.from('<!DOCTYPE html>\n<title>Log in</title>\n');
  const flaw = 'this is a web page, not a video';
  expect(await judge(page, 1000)).toEqual({ is: 'wait', forMs: 29_000, why: flaw });
  expect(await judge(page, 300_000)).toEqual({ is: 'complete', flaw, isUnreadable: false, doubt: null });
});

test('an MP3 that states more bytes than it has passes at once, with a doubt', async () => {
  const mp3 = Buffer.alloc(1000, 1);
  mp3.write('fffb9064', 'hex');
  mp3.write('Info', 36, 'latin1');
  mp3.writeUInt32BE(2, 40);
  mp3.writeUInt32BE(5000, 44);
  const doubt = 'the container says 4,000 bytes are missing';
  expect(await judge(mp3, 1000)).toEqual({ is: 'complete', flaw: null, isUnreadable: false, doubt });
});

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
