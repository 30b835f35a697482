import { isDeepStrictEqual } from 'node:util';
import { counted, numbers, told } from './step.ts';
import type { Step } from './step.ts';

/** A day of change. */
export const wednesday: readonly Step[] = [
  {
    day: 3,
    time: '08:00',
    who: 'petra',
    does: async (desk) => {
      await desk.edit('dropcast.yaml', 'title: "Sport: {title}"', 'title: "Bulletin: {title}"');
      await desk.dropcast('reload');
      for (const n of numbers(24)) await desk.drop(`sport/wednesday-${n}.mp4`);
    },
    sees: [counted(24, 'done', 'wednesday-')],
  },
  {
    day: 3,
    time: '09:00',
    who: 'petra',
    does: (desk) => desk.edit('dropcast.yaml', 'title: "Bulletin: {title}"', 'title: "Sport: {title}"'),
    sees: [],
  },
  {
    day: 3,
    time: '09:01',
    who: 'petra',
    does: 'dropcast reload',
    sees: [/reloaded|read/i],
    job: 'Apply a changed configuration',
  },
  { day: 3, time: '09:02', who: 'petra', does: 'dropcast reapply --folder sport', sees: [/24 files/] },
  {
    day: 3,
    time: '09:03',
    who: 'petra',
    does: 'dropcast reapply --folder sport --yes',
    sees: [
      [
        'all 24 have the right title',
        async (desk) => (await desk.videos()).filter(({ title }) => title.startsWith('Sport: wednesday')).length === 24,
        30,
      ],
    ],
    job: 'Correct the titles that a wrong rule gave',
  },
  {
    day: 3,
    time: '09:30',
    who: 'petra',
    does: 'dropcast notify test',
    sees: [/ok +petra \(webhook\).*answered 200/, told('test', /from dropcast on ingest1/)],
    job: 'Test the notifications',
  },
  { day: 3, time: '10:00', who: 'petra', does: async () => 'SIGTERM', sees: [] },
  { day: 3, time: '10:05', who: 'petra', does: 'dropcast status', sees: [/files are live/] },
  {
    day: 3,
    time: '11:00',
    who: 'an editor',
    does: async (desk) => {
      await desk.deleteVideo('tape-17');
      await desk.renameVideo('Weather for today', 'Weather for Monday');
    },
    sees: [],
  },
  {
    day: 3,
    time: '11:10',
    who: 'petra',
    does: 'dropcast audit --plan',
    sees: [/About \d+ requests for the list of \d+ videos, and 18\d for single videos/],
  },
  {
    day: 3,
    time: '11:11',
    who: 'petra',
    does: 'dropcast audit --yes',
    sees: [/The audit has begun/],
    job: 'Find what is gone or changed on the service, and what may be deleted here',
  },
  { day: 3, time: '11:12', who: 'power cut', does: async () => 'kill -9', sees: [] },
  {
    day: 3,
    time: '14:00',
    who: 'petra',
    does: 'dropcast audit',
    sees: [
      /Gone: .*\(1\)\n.*tape-17\.mp4/,
      /Changed by hand on the service \(1\)\n.*weather\.mp4/,
      /The local file is gone; the video is there \(30\)/,
      /May be deleted here: .*\((1[3-9]\d|2\d\d)\)/,
    ],
  },
  {
    day: 3,
    time: '15:00',
    who: 'ben',
    does: async (desk) => {
      for (const n of numbers(6)) await desk.dropUnwanted(`sport/rushes-${n}.mp4`);
    },
    sees: [counted(6, 'done', 'rushes-')],
  },
  {
    day: 3,
    time: '15:30',
    who: 'petra',
    does: 'dropcast undo --since 1h --folder sport',
    sees: [/Would be taken back: 6 videos/, /Cost: \d+ requests/, /Nothing was changed.*--yes 6/],
  },
  {
    day: 3,
    time: '15:31',
    who: 'petra',
    does: 'dropcast undo --since 1h --folder sport --yes 6',
    sees: [/6 videos will be deleted/, counted(6, 'skipped', 'rushes-')],
    job: 'Take back what a wrong rule uploaded',
  },
  {
    day: 3,
    time: '16:00',
    who: 'petra',
    does: 'dropcast show rushes-01.mp4',
    sees: [/taken back by petra/],
  },
  {
    day: 3,
    time: '18:00',
    who: 'the judge',
    does: async () => undefined,
    sees: [
      [
        'every video that was dropped is on the service, once',
        async (desk) => {
          const stored = (await desk.videos()).map(({ file_sha256: sha256 }) => sha256);
          return isDeepStrictEqual(stored.toSorted(), await desk.dropped());
        },
      ],
      [
        'every video has one line in links.csv',
        async (desk) => {
          const ids = (await desk.read('state/links.csv')).match(/,vid_\w+/g)?.map((id) => id.slice(1)) ?? [];
          return ids.length === new Set(ids).size && (await desk.videos()).every(({ id }) => ids.includes(id));
        },
      ],
      [
        'the feed has every bulletin',
        async (desk) => {
          const feed = await desk.feed('feed_news');
          return ['Bulletin morning', 'Bulletin evening', 'Bulletin noon'].every((title) => feed.includes(title));
        },
      ],
    ],
  },
];
