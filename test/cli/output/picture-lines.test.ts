import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { accountsLine, causeLines, pictureLines, sharedCauses } from '../../../src/cli/output/picture-lines.ts';
import { viewOf } from '../../../src/view/files/file-view.ts';
import type { LivePicture } from '../../../src/view/picture/picture.ts';
import { sumOfAccounts } from '../../../src/watch/inventory.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { hostView } from '../../../src/view/hosts/host-view.ts';
import { someHost, someUpload } from '../../fleet/fake-fleet.ts';
import { busyPicture, noon, someNowFile, somePicture } from '../../view/picture/some-picture.ts';

/** Members that have a line only when there is something to show. */
const more: Partial<LivePicture> = {
  needing: [viewOf(null, someFacts({ id: 'f_7', path: 'clip7.mp4', end: 'failed', why: 'the disk was full' }))],
  accounts: { ...sumOfAccounts([]), seen: 9, known: { done: 5, queued: 4 } },
  expectations: [
    ...busyPicture().expectations,
    ...busyPicture().expectations.map((each) => ({
      ...each,
      ...({ match: 'morning/*.mp4', state: 'live', by: noon - 130 * 60_000 } as const),
    })),
  ],
  adoption: { files: 12, compared: 3, comparing: null },
  deletions: { files: 5, next_at: noon + 3_600_000 },
  suspects: 1,
};

const wide = { width: Infinity, colour: false };

test('a busy daemon is one screen of plain text, the sentence first', () => {
  const picture = {
    ...busyPicture(),
    ...more,
  };
  expect(pictureLines({ picture, ...wide })).toEqual([
    'Uploading 2, 13 waiting, 4 on the service; 1 folder is frozen; 1 expected delivery is missing or late; 63 need you.',
    'dropcast is running (pid 4711, started 1 h ago) with /etc/dropcast/dropcast.yaml',
    '/srv/late waits: paused by anna since 11:00 until 18:00; `dropcast resume /srv/late` ends it.',
    '/mnt/nas waits: nothing is mounted there since 11:55.',
    'missing  evening/*.mp4 in /srv/in: 1 of 2 files missing since 11:30',
    'not notified  webhook "ops" has accepted nothing since 11:50: answered 503; 3 messages wait',
    '',
    'settling 1 → queued 12 → [uploading 4] → processing 3 → publishing 1 → done 214',
    '2 of them wait for a retry, the next at 12:13',
    'Limited by upload slots: all 4 are in use, and 12 more files are waiting. All done at about 12:31.',
    '',
    'Needs you',
    '60 .mkv files could not be processed by the service, since 11:40, like /srv/in/archive/a-very-long-name-of-a-recording-that-wraps-on-a-phone_2026-11-22.mkv',
    '  Check one of them: it may be damaged or not a video. Replace or ignore them, or retry. Which: `dropcast ls --cause processing_failed`. All of them: `dropcast ignore --cause processing_failed`.',
    '3 files (.srt, .txt) match no rule, since 10:40, like /srv/in/notes.txt',
    '  Add a rule for them, or ignore them. Which: `dropcast ls --cause no_rule`. All of them: `dropcast ignore --cause no_rule`.',
    'clip7.mp4  f_7  failed  the disk was full',
    'List them all: `dropcast status --all`. Details: `dropcast show ID`. Try again: `dropcast retry ID`.',
    '',
    'Now',
    'clip.mp4          uploading    62% of 6.6 GB  38 MB/s  ready at 12:32',
    'evening news.mov  uploading    13% of 6.6 GB  38 MB/s  ready at 12:32',
    'take2.mp4         processing  ready at 12:32  next check in 40 s',
    'radio.wav         uploading   next try in 3 m  the service answered 503',
    '… and 3 more',
    '',
    'API requests  █████████████░░░░░░░░░░░  412 of 1,000 used, others about 120; 15 free again at 12:14',
    'Feed feed_news  published 12:01, 3 newer by 12:11',
    'Feed feed_sport  not published yet, failed: the service has no feed feed_sport',
    'Last 24 hours  214 done (1.2 TB), 12 failed or held',
    '',
    'Folder /mnt/nas: frozen (9 known)',
    'Folder /srv/in: watching (9 known)',
    'All folders: 9 paths = 9 known (5 done, 4 queued)',
    'Expected /srv/in/morning/*.mp4: live, in time for 10:00',
    '12 files were there before dropcast watched the folder: not compared with the service yet.',
    '5 local files will be deleted later, the next in 1 h.',
    '1 record on the service may be empty: `dropcast suspects` lists it.',
  ]);
});

test.each([1, 2, 10, 20, 40, 79])('no line is wider than a terminal of %i columns', (width) => {
  for (const view of [busyPicture(), somePicture()])
    for (const line of pictureLines({ picture: view, width, colour: false }))
      expect(stringWidth(line)).toBeLessThanOrEqual(width);
});

test.each([
  [null, '; the service allows 5 more until 12:18'],
  [noon + 60_000, '; rate limited until'],
])('what the service allows is shown, unless it allows nothing (%j)', (blocked_until, said) => {
  const reported = { left: 5, until: somePicture().at + 8 * 60_000 };
  const budget = { used: 4, limit: 1_000, others: 0, blocked_until, reported, total: 0, frees: [] };
  const line = pictureLines({ picture: somePicture({ budget }), ...wide }).find((each) => each.startsWith('API'));
  expect(line).toContain(said);
});

test('a look that is due within the second is a second away', () => {
  const at = somePicture().at;
  const view = somePicture({ now: { files: [someNowFile({ next_look_at: at + 300 })], more: 0 } });
  expect(pictureLines({ picture: view, ...wide }).join('')).toContain('next check in 1 s');
});

test('hostile names cannot move the cursor', () => {
  const view = somePicture({
    now: { files: [someNowFile({ path: '/in/\u001B[2J\u009B31m\nx.mp4', why: '\u001B]0;x' })], more: 0 },
  });
  expect(pictureLines({ picture: view, ...wide }).join('')).not.toMatch(/\p{Cc}/u);
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
  const lines = pictureLines({ picture: somePicture({ fleet, now }), ...wide });
  expect(lines[2]).toBe(
    'b was last heard 4 m ago, at 12:06. 3 files wait for it: no other working host can read their folders.',
  );
  expect(lines.slice(lines.indexOf('Hosts'), lines.indexOf('Hosts') + 3)).toEqual([
    'Hosts',
    'ingest1  1 of 4 uploads  50 B/s  (this one, 0.3.0)',
    'b        silent: last heard 4 m ago; 3 files wait for it  (0.3.0)',
  ]);
  expect(lines.find((line) => line.startsWith('clip.mp4'))).toMatch(/on ingest1$/);
});

const noPaths = sumOfAccounts([]);

test('the line of the accounts names every place that has paths, and its sum', () => {
  const known = { done: 80, queued: 10 };
  const some = { seen: 100, settling: 2, comparing: 1, known, sidecars: 4, ignored: 2, refused: 1, unaccounted: 0 };
  expect(accountsLine(some)).toBe(
    '100 paths = 2 settling + 1 compared + 90 known (80 done, 10 queued) + 4 sidecars + 2 ignored + 1 refused',
  );
  expect(accountsLine(sumOfAccounts([some, some]))).toMatch(
    /^200 paths = 4 settling .* 180 known \(160 done, 20 queued\)/,
  );
});

test('files are counted by their stages, those that wait for a retry apart', () => {
  const known = { done: 3, queued: 1, 'awaiting upload': 2, retrying: 4, 'awaiting publish': 1, creating: 0 };
  expect(accountsLine({ ...noPaths, seen: 11, known })).toBe(
    '11 paths = 11 known (3 done, 3 queued, 4 waiting for a retry, 1 publishing)',
  );
});

test('it says nothing of empty folders, and tells a fault', () => {
  expect(accountsLine(noPaths)).toBeNull();
  expect(accountsLine({ ...noPaths, seen: 1, unaccounted: 1 })).toBe(
    '1 path = 1 in no state: a bug in dropcast, please report it',
  );
});

const [failed, noRule] = busyPicture().needs_you.causes;

test('60 files of one cause are two lines with the commands for all of them', () => {
  expect(causeLines(failed!, noon)).toEqual([
    '60 .mkv files could not be processed by the service, since 11:40, like /srv/in/archive/a-very-long-name-of-a-recording-that-wraps-on-a-phone_2026-11-22.mkv',
    '  Check one of them: it may be damaged or not a video. Replace or ignore them, or retry. Which: `dropcast ls --cause processing_failed`. All of them: `dropcast ignore --cause processing_failed`.',
  ]);
});

test('what no rule takes is ignored with one command', () => {
  expect(causeLines(noRule!, noon)[1]).toContain('`dropcast ignore --cause no_rule`');
});

test('a cause of one file is a row of its own', () => {
  expect(sharedCauses([failed!, { ...noRule!, files: 1 }])).toEqual([failed]);
});

test('a code that the service chose cannot leave its word or move the cursor', () => {
  const [, command] = causeLines({ ...failed!, key: '$(reboot)\u001B[2J' }, noon);
  expect(command).toContain(String.raw`--cause $'$(reboot)\x1b[2J'`);
  expect(command).not.toMatch(/\p{Cc}/u);
});
