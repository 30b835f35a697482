import { rename } from 'node:fs/promises';
import { counted, numbers, told, toldTo } from './step.ts';
import type { Step } from './step.ts';

/** An ordinary day. */
export const monday: readonly Step[] = [
  {
    day: 1,
    time: '07:00',
    who: 'anna',
    does: async (desk) => {
      await desk.drop('bulletins/morning.mp4');
      await desk.write('bulletins/weather.yaml', 'title: Weather for today\ntags: [weather]\n');
      await desk.drop('bulletins/weather.mp4');
    },
    sees: [
      counted(1, 'done', 'morning.mp4'),
      counted(1, 'done', 'weather.mp4'),
      toldTo('anna', 'live', /morning\.mp4[^]*\/embed\/vid_[^]*ingest1/, 5),
      [
        'links.csv has the link',
        async (desk) => /morning\.mp4.*\/embed\/vid_/.test(await desk.read('state/links.csv')),
      ],
      [
        'the sidecar gave the title',
        async (desk) => (await desk.videos()).some(({ title }) => title === 'Weather for today'),
      ],
    ],
  },
  {
    day: 1,
    time: '07:30',
    who: 'petra',
    does: 'dropcast publish feed_news',
    sees: [/feed_news: published; it has \d+ videos now/],
    job: 'Publish a feed now',
  },
  {
    day: 1,
    time: '08:00',
    who: 'ben',
    does: async (desk) => {
      for (const n of numbers(30)) await desk.drop(`sport/match-${n}.mp4`);
    },
    sees: [counted(30, 'done', 'match-')],
  },
  {
    day: 1,
    time: '09:00',
    who: 'ben',
    does: async (desk) => {
      await desk.drop('sport/again.mp4', 'sport/match-01.mp4');
      await desk.dropHalf('sport/damaged.mp4');
      await desk.drop('sport/rendering.mp4');
      // Three seconds later, while dropcast still waits for the file to settle.
      await desk.time.pass({ moment: desk.time.now() + 3_000 });
      await rename(desk.file('sport/rendering.mp4'), desk.file('sport/interview.mp4'));
    },
    sees: [
      counted(1, 'skipped', 'again.mp4'),
      counted(1, 'held', 'damaged.mp4'),
      counted(1, 'done', 'interview.mp4'),
      counted(0, 'done', 'rendering.mp4'),
      told('needs_you', /damaged\.mp4 needs you[^]*The container says .* bytes are missing. Copy it again/, 30),
      toldTo('ben', 'needs_you', /damaged\.mp4 needs you/, 30),
      ['no message to ben needs a shell', (desk) => !/dropcast \w+ --/.test(desk.textsTo('ben'))],
      ['no message to anna is about the files of ben', (desk) => !/sport/.test(desk.textsTo('anna'))],
    ],
  },
  {
    day: 1,
    time: '09:20',
    who: 'ben',
    does: (desk) => desk.drop('sport/damaged.mp4'),
    sees: [counted(1, 'done', 'damaged.mp4')],
  },
  { day: 1, time: '11:00', who: 'petra', does: async () => 'SIGTERM', sees: [] },
  {
    day: 1,
    time: '13:00',
    who: 'petra',
    does: 'dropcast pause --all --until 18:00',
    sees: [/until .*18:00/],
    job: 'Pause until 18:00',
  },
  {
    day: 1,
    time: '13:10',
    who: 'carl',
    does: async (desk) => {
      for (const n of numbers(40)) await desk.drop(`archive/1998/tape-${n}.mp4`);
    },
    sees: [counted(40, 'queued', 'tape-')],
  },
  { day: 1, time: '15:00', who: 'power cut', does: async () => 'kill -9', sees: [] },
  {
    day: 1,
    time: '17:30',
    who: 'petra',
    does: 'dropcast status',
    sees: [/paused by (?:petra|the status page) since .*13:00.* until .*18:00/i],
  },
  {
    day: 1,
    time: '17:59',
    who: 'anna',
    does: async (desk) => {
      await desk.drop('bulletins/evening.mp4');
      await desk.time.pass({ moment: desk.time.now() + 65_000 });
    },
    sees: [counted(1, 'done', 'evening.mp4'), counted(40, 'done', 'tape-')],
  },
  {
    day: 1,
    time: '19:00',
    who: 'petra',
    does: 'dropcast status',
    sees: [/done 75/, /Nothing|are live/],
  },
];
