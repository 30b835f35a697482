import { mkdir, rename } from 'node:fs/promises';
import { counted, folderIs, numbers, told } from './step.ts';
import type { Step } from './step.ts';

/** A day of trouble. */
export const tuesday: readonly Step[] = [
  {
    day: 2,
    time: '08:00',
    who: 'petra',
    does: 'dropcast ls --since yesterday --until today -q morning',
    sees: [/morning\.mp4 +2026-11-30 07:00/],
    job: "Find yesterday's file",
  },
  {
    day: 2,
    time: '08:05',
    who: 'petra',
    does: 'dropcast events --since yesterday',
    sees: [/17:59:.. .*evening\.mp4: Waiting/, /13:00:.. .*Everything is paused by petra since 13:00 until 18:00/],
    job: 'Why was it late',
  },
  { day: 2, time: '09:00', who: 'the service', does: (desk) => desk.closeService(), sees: [] },
  {
    day: 2,
    time: '09:01',
    who: 'ben',
    does: async (desk) => {
      for (const n of numbers(10)) await desk.drop(`sport/tuesday-${n}.mp4`);
    },
    sees: [told('paused', /cannot be reached/)],
  },
  {
    day: 2,
    time: '09:30',
    who: 'petra',
    does: 'dropcast status',
    sees: [/cannot be reached/, /next check|next try/],
  },
  {
    day: 2,
    time: '09:40',
    who: 'the service',
    does: (desk) => desk.openService(),
    sees: [counted(10, 'done', 'tuesday-'), told('recovered', /reach|back/i)],
  },
  {
    day: 2,
    time: '10:30',
    who: 'an administrator',
    does: (desk) => desk.dashboard('DELETE', '/keys/key_1'),
    sees: [],
  },
  {
    day: 2,
    time: '10:31',
    who: 'anna',
    does: (desk) => desk.drop('bulletins/noon.mp4'),
    sees: [told('key_refused', /The API key is missing, invalid or revoked.*dropcast reload/)],
  },
  {
    day: 2,
    time: '10:45',
    who: 'petra',
    does: async (desk) => {
      const { data } = await desk.dashboard<{ data: { key: string } }>('POST', '/keys', { name: 'dropcast' });
      await desk.write('key', data.key);
    },
    sees: [],
  },
  {
    day: 2,
    time: '10:46',
    who: 'petra',
    does: 'dropcast reload',
    sees: [counted(1, 'done', 'noon.mp4'), told('recovered', /key|account|Uploads/i)],
    job: 'Change the key',
  },
  {
    day: 2,
    time: '11:30',
    who: 'the share',
    does: (desk) => rename(desk.file('sport'), desk.file('sport.away')),
    sees: [folderIs('sport', 'frozen'), told('folder_away', /sport/)],
  },
  {
    day: 2,
    time: '12:00',
    who: 'the share',
    does: (desk) => rename(desk.file('sport.away'), desk.file('sport')),
    sees: [folderIs('sport', 'watching')],
  },
  {
    day: 2,
    time: '12:30',
    who: 'ben',
    does: async (desk) => {
      await mkdir(desk.file('last season'));
      for (const n of numbers(30))
        await rename(desk.file(`sport/match-${n}.mp4`), desk.file(`last season/match-${n}.mp4`));
      await desk.time.pass({ moment: desk.time.now() + 12 * 60_000 });
      await desk.drop('sport/after-tidying.mp4');
    },
    sees: [
      folderIs('sport', 'frozen'),
      told('folder_away', /30 of \d+ known files are missing at once.*dropcast resume/, 30),
      counted(0, 'done', 'after-tidying'),
    ],
  },
  {
    day: 2,
    time: '13:00',
    who: 'petra',
    does: 'dropcast resume sport',
    sees: [folderIs('sport', 'watching'), counted(1, 'done', 'after-tidying')],
    job: 'Resume a frozen folder',
  },
  {
    day: 2,
    time: '14:00',
    who: 'ben',
    does: async (desk) => {
      await desk.dashboard('POST', '/faults', { kind: 'failed_processing', nth: 1, times: 40 });
      for (const n of numbers(40)) await desk.drop(`sport/cup-${n}.mp4`);
    },
    sees: [counted(40, 'failed', 'cup-'), told('needs_you', /\d+ \.mp4 files could not be processed by the service/)],
  },
  {
    day: 2,
    time: '14:45',
    who: 'petra',
    does: 'dropcast retry --state failed',
    sees: [counted(40, 'done', 'cup-')],
    job: 'Retry 40 failed files',
  },
  {
    day: 2,
    time: '16:00',
    who: 'carl',
    does: async (desk) => {
      for (const n of numbers(60)) await desk.write(`archive/notes-${n}.mp4`, `notes of tape ${n}`);
    },
    sees: [counted(60, 'failed', 'notes-'), told('needs_you', /not in a video or audio format/)],
  },
  {
    day: 2,
    time: '17:30',
    who: 'petra',
    does: 'dropcast ignore --cause processing_failed',
    sees: [counted(0, 'failed')],
    job: 'Ignore 60 files that are no videos',
  },
  {
    day: 2,
    time: '17:40',
    who: 'another program',
    does: (desk) => desk.useRequests(990),
    sees: [],
  },
  {
    day: 2,
    time: '17:41',
    who: 'carl',
    does: async (desk) => {
      for (const n of numbers(12)) await desk.drop(`archive/1999/tape-${n}.mp4`);
    },
    sees: [told('budget', /requests/, 45)],
  },
  {
    day: 2,
    time: '18:00',
    who: 'anna',
    does: async (desk) => {
      await desk.drop('bulletins/flash.mp4');
      for (const n of numbers(3)) await desk.drop(`archive/2000/trailer-${n}.mp4`);
    },
    sees: [
      told('missing', /flash\.mp4[^]*cannot be ready by 18:30: its create request waits for the hourly request budget/),
      counted(3, 'queued', 'trailer-'),
    ],
  },
  {
    day: 2,
    time: '18:10',
    who: 'petra',
    does: 'dropcast first trailer-03.mp4',
    sees: [/trailer-03\.mp4/],
    job: 'Let a file go first',
  },
  {
    day: 2,
    time: '18:20',
    who: 'the service',
    does: async () => undefined,
    sees: [
      counted(12, 'done', '1999/tape-'),
      counted(3, 'done', 'trailer-'),
      counted(1, 'done', 'flash.mp4'),
      [
        'the first is what petra put first, then what has a deadline, then the others',
        async (desk) => {
          const titles = (await desk.videos()).map(({ title }) => title);
          const order = titles.filter((title) => title.startsWith('trailer') || title === 'Bulletin flash');
          return order.slice(0, 2).join() === 'trailer-03,Bulletin flash' && order.length === 4;
        },
      ],
    ],
  },
  {
    day: 2,
    time: '18:45',
    who: 'petra',
    does: 'dropcast status',
    sees: [/1 expected delivery is missing or late/, /missing +evening\*\.mp4 in .*: 1 of 1 file missing since 18:30/],
  },
  {
    day: 2,
    time: '19:30',
    who: 'power cut',
    does: async (desk) => {
      for (const n of numbers(20)) await desk.drop(`sport/late-${n}.mp4`);
      const before = desk.service.requests().length;
      await desk.time.trickle(() => desk.service.requests().length >= before + 15);
      return 'kill -9';
    },
    sees: [],
  },
  { day: 2, time: '20:00', who: 'petra', does: 'dropcast status', sees: [counted(20, 'done', 'late-')] },
];
