import { symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { manualEvents, WatchedDirectory } from './watched-directory.ts';

test('a watcher tells when it last heard of a file, and when it scans', async () => {
  const events = manualEvents();
  await using inbox = await WatchedDirectory.create({ openEvents: events.open });
  expect(inbox.watcher.activity()).toMatchObject({ by: 'events', heardMsAgo: null, scans: { endedMsAgo: null } });
  await inbox.watcher.start();
  expect(inbox.watcher.activity().heardMsAgo).toBeNull();
  await writeFile(inbox.at('clip.mp4'), 'x');
  events.last().onEvent(inbox.at('clip.mp4'));
  const { heardMsAgo, scans } = inbox.watcher.activity();
  expect(heardMsAgo).toBeGreaterThanOrEqual(0);
  expect(scans).toMatchObject({ endedMsAgo: expect.any(Number), tookMs: expect.any(Number) });
  await until('the next scan is planned', () => inbox.watcher.activity().scans.nextInMs !== null);
});

test('where no events are wanted, scans find the files', async () => {
  await using inbox = await WatchedDirectory.create({ folder: { watch: 'polling' } });
  await inbox.watcher.start();
  expect(inbox.watcher.activity().by).toBe('scans');
});

test('all refused paths are listed by name, up to the requested number', async () => {
  await using inbox = await WatchedDirectory.create();
  for (const name of ['a.mp4', 'b.mp4', 'c.mp4']) await symlink('/nowhere', inbox.at(name));
  await inbox.watcher.start();
  const names = (most: number) => inbox.watcher.refused(most).map(({ path }) => path);
  expect(names(10).toSorted()).toEqual(['a.mp4', 'b.mp4', 'c.mp4']);
  expect(names(2)).toHaveLength(2);
  expect(inbox.watcher.refused(1)[0]?.why).toBe('it is a symbolic link');
});

test('files that wait for their marker are counted', async () => {
  await using inbox = await WatchedDirectory.create({
    folder: { settleMs: 86_400_000, markerOf: (path) => `${path}.done` },
  });
  for (const name of ['a.mp4', 'b.mp4']) await writeFile(inbox.at(name), 'x');
  await inbox.watcher.start();
  await until('both are known to wait', () => inbox.watcher.activity().lackMarkers === 2);
});
