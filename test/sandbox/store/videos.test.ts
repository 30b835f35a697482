import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChannelStore } from '../../../packages/sandbox/src/store/channels.ts';
import { inTransaction, openDatabase } from '../../../packages/sandbox/src/store/database.ts';
import type { VideoFilter } from '../../../packages/sandbox/src/store/videos.ts';
import { ProcessingStore } from '../../../packages/sandbox/src/store/processing.ts';
import { VideoStore } from '../../../packages/sandbox/src/store/videos.ts';
import { playable } from '../playable.ts';

function recordsWith(count: number): { videos: VideoStore; database: DatabaseSync } {
  const database = openDatabase(':memory:');
  for (const id of ['ch', 'other']) new ChannelStore(database).add({ id, name: id, slug: id, createdAtMs: 0 });
  const videos = new VideoStore(database);
  inTransaction(database, () => {
    for (let index = 0; index < count; index += 1) create(videos, index);
  });
  return { videos, database };
}

function storeWith(count: number): VideoStore {
  return recordsWith(count).videos;
}

function create(videos: VideoStore, createdAtMs: number): void {
  const channelId = createdAtMs % 3 === 2 ? 'other' : 'ch';
  const video = { title: 'T', description: 'd'.repeat(2000), channelId, tags: [], sourceUrl: null, createdAtMs };
  videos.create(video, (number) => `vid_${number}`);
}

test('videos created in the same millisecond keep their order', () => {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 5 };
  for (let index = 0; index < 5; index += 1) videos.create(video, (number) => `vid_${number}`);
  expect(videos.page({}, 1, 5).videos.map(({ id }) => id)).toEqual(['vid_5', 'vid_4', 'vid_3', 'vid_2', 'vid_1']);
});

test('a page shows the current records, whatever was read before', () => {
  const filters = [{}, { status: 'failed' }, { channelId: 'ch' }, { channelId: 'other', status: 'pending' }] as const;
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ read: fc.constantFrom(...filters), page: fc.integer({ min: 1, max: 7 }) }) },
    fc.record({ create: fc.integer({ min: 0, max: 30 }) }),
    fc.record({ remove: fc.integer({ min: 1, max: 25 }) }),
    fc.record({ fail: fc.integer({ min: 1, max: 25 }), isTakenBack: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, perPage) => {
      const { videos, database } = recordsWith(12);
      const check = (filter: VideoFilter, page: number): void => {
        const rows = database
          .prepare('SELECT id, channel_id, status FROM videos ORDER BY created_at_ms DESC, number DESC')
          .all()
          .filter(({ channel_id: channel }) => filter.channelId === undefined || channel === filter.channelId)
          .filter(({ status }) => filter.status === undefined || status === filter.status);
        const read = videos.page(filter, page, perPage);
        const wanted = rows.slice((page - 1) * perPage, page * perPage);
        expect(read.videos.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
        expect([read.total, videos.count(filter)]).toEqual([rows.length, rows.length]);
      };
      for (const each of steps) {
        if ('read' in each) check(each.read, each.page);
        else if ('create' in each) create(videos, each.create);
        else if ('remove' in each) videos.remove(`vid_${each.remove}`);
        else if (!each.isTakenBack)
          new ProcessingStore(database).fail(`vid_${each.fail}`, { code: 'c', message: 'm' }, 0);
        else
          expect(() =>
            inTransaction(database, () => {
              new ProcessingStore(database).fail(`vid_${each.fail}`, { code: 'c', message: 'm' }, 0);
              for (const filter of filters) check(filter, 1);
              throw new Error('taken back');
            }),
          ).toThrow('taken back');
      }
      for (const filter of filters) for (let page = 1; page <= 6; page += 1) check(filter, page);
    }),
  );
});

test('only a pending video starts processing', () => {
  const { videos, database } = recordsWith(2);
  const processing = new ProcessingStore(database);
  const start = (videoId: string) =>
    processing.startProcessing({ videoId, sizeBytes: 1, sha256: 'x' }, playable, { nowMs: 0, dueAtMs: 0 });
  processing.fail('vid_1', { code: 'import_failed', message: 'gone' }, 0);
  expect(start('vid_1')).toBe(false);
  expect(videos.find('vid_1')?.status).toBe('failed');
  expect([start('vid_2'), start('vid_2'), start('vid_9')]).toEqual([true, false, false]);
});

test('the number of a deleted video is not used again', () => {
  const videos = storeWith(3);
  videos.remove('vid_3');
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 9 };
  expect(videos.create(video, (number) => `vid_${number}`)).toBe('vid_4');
});
