import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { topLines } from '../../../src/cli/output/top-frame.ts';
import { hostView } from '../../../src/daemon/fleet/host-view.ts';
import { someHost, someUpload } from '../../daemon/fleet/fake-fleet.ts';
import { busyOverview, noon, someNowFile, someOverview } from '../../daemon/overview/some-overview.ts';

const wide = { width: Infinity, colour: false };

test('a busy daemon is one screen of plain text, the sentence first', () => {
  expect(topLines({ view: busyOverview(), ...wide })).toEqual([
    'Uploading 2, 13 waiting, 4 on the service; 1 folder is frozen; 1 expected delivery is missing or late; 63 need you.',
    '/srv/late waits: paused by anna since 11:00 until 18:00; `dropcast resume /srv/late` ends it.',
    '/mnt/nas waits: nothing is mounted there since 11:55.',
    'missing  evening/*.mp4 in /srv/in: 1 of 2 files missing since 11:30',
    'not told  webhook "ops" takes nothing since 11:50: answered 503; 3 messages wait',
    '',
    'settling 1 → queued 12 → [uploading 2] → processing 3 → publishing 1 → live 214',
    'retrying 2, the next at 12:13',
    'Limited by upload slots: all 4 are in use, 12 more files wait. All done at about 12:31.',
    '',
    'Needs you',
    '60 .mkv files could not be processed by the service. Look at one of them: it may be no video, or damaged. Replace or ignore them, or retry.',
    '3 files (.srt, .txt) match no rule. Add a rule for them, or ignore them.',
    '',
    'Now',
    'clip.mp4          uploading          62% of 6.6 GB  38 MB/s  ready at 12:32',
    'evening news.mov  uploading          13% of 6.6 GB  38 MB/s  ready at 12:32',
    'take2.mp4         processing        ready at 12:32  next check in 40 s',
    'radio.wav         retrying          next try in 3 m  the service answered 503',
    '… and 3 more',
    '',
    'API requests  █████████████░░░░░░░░░░░  412 of 1,000 used, others about 120; 15 free again at 12:14',
    'Feed feed_news  published 12:01, 3 newer by 12:11',
    'Feed feed_sport  not published yet, failed: the service knows no feed feed_sport',
    'Last 24 hours  214 live (1.2 TB), 12 failed or held',
  ]);
});

test.each([1, 2, 10, 20, 40, 79])('no line is wider than a terminal of %i columns', (width) => {
  for (const view of [busyOverview(), someOverview()])
    for (const line of topLines({ view, width, colour: false })) expect(stringWidth(line)).toBeLessThanOrEqual(width);
});

test('a look that is due within the second is a second away', () => {
  const at = someOverview().at;
  const view = someOverview({ now: { files: [someNowFile({ next_look_at: at + 300 })], more: 0 } });
  expect(topLines({ view, ...wide }).join('')).toContain('next check in 1 s');
});

test('hostile names cannot move the cursor', () => {
  const view = someOverview({
    now: { files: [someNowFile({ path: '/in/\u001B[2J\u009B31m\nx.mp4', why: '\u001B]0;x' })], more: 0 },
  });
  expect(topLines({ view, ...wide }).join('')).not.toMatch(/\p{Cc}/u);
});

test('of a fleet, each host has a line and each file the host that works on it; what is wrong with a host comes first', () => {
  const fleet = {
    away_since: null,
    away: null,
    hosts: [
      hostView(
        someHost('ingest1', {
          heardAt: noon,
          doing: { slots: 4, places: [], work: [{ id: 'f_1', upload: someUpload }] },
        }),
        'ingest1',
      ),
      hostView(someHost('b', { heardAt: noon - 240_000, isHeard: false }), 'ingest1', 3),
    ],
  };
  const now = { files: [someNowFile({ host: 'ingest1' })], more: 0 };
  const lines = topLines({ view: someOverview({ fleet, now }), ...wide });
  expect(lines[1]).toBe(
    'b was last heard 4 m ago, at 12:06. 3 files wait for it: no other host that works can read their folders.',
  );
  expect(lines.slice(lines.indexOf('Hosts'), lines.indexOf('Hosts') + 3)).toEqual([
    'Hosts',
    'ingest1  1 of 4 uploads  50 B/s',
    'b        silent: last heard 4 m ago; 3 files wait for it',
  ]);
  expect(lines.find((line) => line.startsWith('clip.mp4'))).toMatch(/on ingest1$/);
});
