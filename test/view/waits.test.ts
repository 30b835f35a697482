import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { filesVerdict } from '../../src/cli/doctor/checks/files.ts';
import { pictureLines } from '../../src/cli/output/picture-lines.ts';
import { waitReporter } from '../../src/cli/run/watch-progress.ts';
import type { ViewedDaemon } from '../../src/view/viewed-daemon.ts';
import { viewOf } from '../../src/view/files/file-view.ts';
import type { OperatorPause } from '../../src/pipeline/events.ts';
import { createMetrics } from '../../src/status/metrics/metrics.ts';
import { troublesOf } from '../../src/status/notifications/troubles.ts';
import { troublePanel } from '../../src/status/page/views/overview.ts';
import { statusText } from '../../src/systemd/lifecycle.ts';
import { briefly, mainWait, waitLines, whyWords } from '../../src/view/waits.ts';
import type { WaitCause } from '../../src/view/waits.ts';
import { noon, somePicture, stagesWith } from './picture/some-picture.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { measuredDaemon, valuesOf } from '../status/measured-daemon.ts';
import { sightAt, waitsAt } from './moments.ts';
import type { Moment } from './moments.ts';

beforeEach(() => void vi.useFakeTimers({ now: noon, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const minute = 60_000;
const key = {
  kind: 'suspended',
  code: 'unauthorized',
  why: 'the service answered 401; new key: `sudo dropcast setup --key-file - --force`',
} as const;
const away = 'PostgreSQL at db:5432 has not answered since 12:09';
const disk = { kind: 'suspended', code: 'ENOSPC', why: 'the disk of /var/lib/dropcast is full' } as const;
const host = { holds: 'uploads', why: 'the upload host up.example.com cannot be reached' } as const;
const all: OperatorPause = { folder: null, since: noon - 70 * minute, until: noon + 350 * minute, by: 'anna' };
const one: OperatorPause = { folder: '/srv/late', since: noon - 10 * minute, until: null, by: 'ben' };

/** What each surface shows. A surface without an entry shows nothing of the moment. */
interface Shown {
  readonly name: string;
  readonly at: Moment;
  /** The main wait in a few words. */
  readonly brief?: string;
  /** All waits: `status`, `top`, page; with `brief`, the line of the unit has the first. */
  readonly lines?: readonly string[];
  /** A queued file of `/srv/late`. */
  readonly file?: string;
  readonly doctor?: string;
  readonly once?: string;
  /** Titles of notifications. */
  readonly told?: readonly string[];
  /** Samples that differ from a quiet daemon's. */
  readonly metrics?: readonly string[];
}

const moments: readonly Shown[] = [
  { name: 'nothing waits', at: {} },
  {
    name: 'the service is away',
    at: { pause: {} },
    brief: 'Waiting for the service',
    lines: ['Everything waits: https://video.example.com cannot be reached, since 12:02; next try at 12:15.'],
    file: 'waiting for the service',
    doctor: 'Everything waits: https://video.example.com cannot be reached, since 12:02; next try at 12:15',
    once: 'Waiting: https://video.example.com cannot be reached, since 12:02; next try at 12:15',
    told: ['Everything waits for the service'],
    metrics: ['paused{holds="everything"} 1'],
  },
  {
    name: 'the key is refused',
    at: { pause: key },
    brief: 'Waiting for the key',
    lines: [
      'Everything waits: the service answered 401, since 12:02; new key: `sudo dropcast setup --key-file - --force`; next try at 12:15.',
    ],
    file: 'waiting for the key',
    doctor:
      'Everything waits: the service answered 401, since 12:02; new key: `sudo dropcast setup --key-file - --force`; next try at 12:15',
    once: 'Waiting: the service answered 401, since 12:02; new key: `sudo dropcast setup --key-file - --force`; next try at 12:15',
    told: ['Everything waits for the key'],
    metrics: ['paused{holds="everything"} 1'],
  },
  {
    name: 'the account is refused',
    at: { pause: { ...key, code: 'payment_required', why: 'the service answered 402.' } },
    brief: 'Waiting for the account',
    lines: ['Everything waits: the service answered 402, since 12:02; next try at 12:15.'],
    file: 'waiting for the account',
    doctor: 'Everything waits: the service answered 402, since 12:02; next try at 12:15',
    once: 'Waiting: the service answered 402, since 12:02; next try at 12:15',
    told: ['Everything waits for the account'],
    metrics: ['paused{holds="everything"} 1'],
  },
  {
    name: 'the disk is full',
    at: { pause: disk },
    brief: 'Waiting for this machine',
    lines: ['Everything waits: the disk of /var/lib/dropcast is full, since 12:02; next try at 12:15.'],
    file: 'waiting for this machine',
    doctor: 'Everything waits: the disk of /var/lib/dropcast is full, since 12:02; next try at 12:15',
    once: 'Waiting: the disk of /var/lib/dropcast is full, since 12:02; next try at 12:15',
    told: ['Everything waits for this machine'],
    metrics: ['paused{holds="everything"} 1'],
  },
  {
    name: 'an upload host is away',
    at: { pause: host },
    brief: 'Waiting for the upload host',
    lines: ['Uploads wait: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15.'],
    file: 'waiting for the upload host',
    doctor: 'Uploads wait: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15',
    once: 'Waiting: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15',
    told: ['Uploads wait for the upload host'],
    metrics: ['paused{holds="uploads"} 1'],
  },
  {
    name: 'the quota of the service is used up',
    at: { refused: { code: 'quota_reached', trouble: 'quota', why: 'the service answered 403 quota_reached' } },
    brief: 'Waiting for the quota',
    lines: ['New files wait: the service answered 403 quota_reached, since 12:02; next try at 12:15.'],
    file: 'waiting for the quota',
    once: 'Waiting: the service answered 403 quota_reached, since 12:02; next try at 12:15',
    told: ['New files wait for the quota'],
    metrics: ['paused{holds="new files"} 1'],
  },
  {
    name: 'the service suspended a channel',
    at: {
      refused: { code: 'channel_suspended', trouble: 'channel', channel: 'ch_a', why: 'the service answered 403' },
    },
    lines: ['Files for channel ch_a wait: the service answered 403, since 12:02; next try at 12:15.'],
    told: ['Files for channel ch_a wait'],
  },
  {
    name: 'anna paused everything',
    at: { people: [all] },
    brief: 'Paused by anna since 11:00 until 18:00',
    lines: ['Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it.'],
    file: 'paused by anna since 11:00 until 18:00',
    doctor: 'Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it',
    once: 'Waiting: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it',
    metrics: ['paused_by_people{holds="everything"} 1'],
  },
  {
    name: 'ben paused a folder',
    at: { people: [one] },
    lines: ['/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.'],
    file: 'paused by ben since 12:00',
    metrics: ['paused_by_people{holds="folder"} 1'],
  },
  {
    name: 'both did',
    at: { people: [one, all] },
    brief: 'Paused by anna since 11:00 until 18:00',
    lines: [
      'Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it.',
      '/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.',
    ],
    file: 'paused by anna since 11:00 until 18:00',
    doctor: 'Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it',
    once: 'Waiting: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it',
    metrics: ['paused_by_people{holds="everything"} 1', 'paused_by_people{holds="folder"} 1'],
  },
  {
    name: 'too many creates had no answer',
    at: { createsUntil: noon + 20 * minute },
    brief: 'Waiting for answers to create requests',
    lines: ['New files wait: too many create requests in the last hour got no usable answer; resumes at 12:30.'],
    file: 'too many create requests in the last hour got no usable answer; resumes at 12:30',
    once: 'Waiting: too many create requests in the last hour got no usable answer; resumes at 12:30',
  },
  {
    name: 'uploads start in the evening',
    at: { startAt: noon + 470 * minute },
    brief: 'Waiting for the upload window',
    lines: ['Uploads wait: outside `uploads.window`; resumes at 20:00.'],
    file: 'outside `uploads.window`; resumes at 20:00',
    once: 'Waiting: outside `uploads.window`; resumes at 20:00',
    metrics: ['upload_window_open 0'],
  },
  {
    name: 'uploads start tomorrow',
    at: { startAt: noon + 1_190 * minute },
    brief: 'Waiting for the upload window',
    lines: ['Uploads wait: outside `uploads.window`; resumes at 2026-11-23 08:00.'],
    file: 'outside `uploads.window`; resumes at 2026-11-23 08:00',
    once: 'Waiting: outside `uploads.window`; resumes at 2026-11-23 08:00',
    metrics: ['upload_window_open 0'],
  },
  {
    name: 'the service limits the rate',
    at: { blockedUntil: noon + minute },
    lines: ['Requests wait: rate limited by the service; resumes in 60 s.'],
    file: 'rate limited by the service; resumes in 60 s',
  },
  { name: 'a rate limit has ended', at: { blockedUntil: noon - minute } },
  {
    name: 'a folder is away',
    at: { frozen: ['/mnt/nas'] },
    lines: ['/mnt/nas waits: nothing is mounted there.'],
    told: ['/mnt/nas waits'],
    metrics: ['watch_root_up{root="/mnt/nas"} 0'],
  },
  {
    name: 'two folders are away',
    at: { frozen: ['/mnt/a', '/mnt/b'] },
    lines: ['/mnt/a waits: nothing is mounted there.', '/mnt/b waits: nothing is mounted there.'],
    told: ['/mnt/a waits', '/mnt/b waits'],
    metrics: ['watch_root_up{root="/mnt/a"} 0', 'watch_root_up{root="/mnt/b"} 0'],
  },
  {
    name: 'the service has no channel of that name',
    at: { unknown: ['channel'] },
    lines: [
      'Files for channel channel_x wait: the service does not have the channel, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
    told: ['Files for channel channel_x wait'],
    metrics: ['unknown_names{kind="channel"} 1'],
  },
  {
    name: 'the service has no feed of that name',
    at: { unknown: ['feed'] },
    lines: [
      'Videos for feed feed_x wait: the service does not have the feed, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
    told: ['Videos for feed feed_x wait'],
    metrics: ['unknown_names{kind="feed"} 1'],
  },
  {
    name: 'the database of a fleet is away, which has a list of its own',
    at: { away, pause: { kind: 'suspended', code: 'LEDGER_AWAY', why: away } },
    brief: 'Waiting for the database',
    file: 'waiting for the database',
    doctor: 'Everything waits: PostgreSQL at db:5432 has not answered since 12:09',
    once: 'Waiting: PostgreSQL at db:5432 has not answered since 12:09',
    told: ['Everything waits for the database'],
    metrics: ['paused{holds="everything"} 1'],
  },
  {
    name: 'much is wrong at once',
    at: {
      away,
      pause: host,
      people: [one],
      createsUntil: noon + 20 * minute,
      startAt: noon + 470 * minute,
      blockedUntil: noon + minute,
      frozen: ['/mnt/nas'],
      unknown: ['channel'],
    },
    brief: 'Waiting for the database',
    lines: [
      'Uploads wait: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15.',
      '/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.',
      'New files wait: too many create requests in the last hour got no usable answer; resumes at 12:30.',
      'Uploads wait: outside `uploads.window`; resumes at 20:00.',
      'Requests wait: rate limited by the service; resumes in 60 s.',
      '/mnt/nas waits: nothing is mounted there.',
      'Files for channel channel_x wait: the service does not have the channel, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
    file: 'waiting for the database',
    doctor: 'Everything waits: PostgreSQL at db:5432 has not answered since 12:09',
    once: 'Waiting: PostgreSQL at db:5432 has not answered since 12:09',
    told: ['Uploads wait for the upload host', '/mnt/nas waits', 'Files for channel channel_x wait'],
    metrics: [
      'paused{holds="everything"} 1',
      'paused{holds="uploads"} 1',
      'paused_by_people{holds="folder"} 1',
      'unknown_names{kind="channel"} 1',
      'upload_window_open 0',
      'watch_root_up{root="/mnt/nas"} 0',
    ],
  },
];

test.each(moments)('$name: every surface has the same causes in the same order and words', async (shown) => {
  const { at, brief, lines = [], file, doctor, once, told = [], metrics = [] } = shown;
  const waits = waitsAt(at);
  const main = mainWait(waits, 1);
  expect(main === null ? undefined : briefly(main)).toBe(brief);
  expect(waitLines(waits, noon)).toEqual(lines);
  const picture = somePicture({ waits, stages: stagesWith({ queued: 1 }) });
  const status = pictureLines({ picture, width: Infinity, colour: false });
  expect(
    status.filter((line) => lines.includes(line)),
    '`dropcast status` and `dropcast top`',
  ).toEqual(lines);
  const listed = waits.filter(({ cause }) => cause !== 'database');
  expect(textOf(String(await troublePanel(picture, noon))), 'the page').toBe(
    listed.map((wait) => `waits ${wait.what} : ${whyWords(wait, noon)}`).join(' '),
  );
  const line = statusText(picture, noon);
  if (main === null) expect(line, 'the line of the unit').toMatch(/^1 queued/);
  else expect(line, 'the line of the unit').toContain(whyWords(main, noon));
  expect(fileAt(at)).toBe(file ?? 'waiting for its turn');
  const patient = { service: null, option: undefined };
  expect(filesVerdict({ stuck: 0, suspects: 0, waits }, patient)[0]?.what, 'doctor').toBe(doctor);
  expect(onceAt(at), '`dropcast once`').toEqual(once === undefined ? [] : [once]);
  expect(titlesAt(at), 'notifications').toEqual(told);
  expect(await samplesAt(at), 'metrics').toEqual(metrics);
});

const textOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Requests wait, so a rate limit holds the file up. */
function fileAt(at: Moment): string | null {
  const asking = at.blockedUntil === undefined || at.blockedUntil < noon ? 0 : 1;
  const daemon = {
    waits: () => waitsAt(at),
    fleet: null,
    conductor: { noSlot: () => null, pace: () => ({ slots: 4 }), uploads: () => [] },
    rows: { isHeld: () => false, held: () => [] },
    gate: { snapshot: () => ({ waiting: asking }) },
    config: () => ({ folders: [], uploads: { concurrency: 4 } }),
  } as unknown as ViewedDaemon;
  return viewOf(daemon, someFacts({ folder: '/srv/late' })).why;
}

function onceAt(at: Moment): readonly string[] {
  const lines: string[] = [];
  waitReporter((line) => lines.push(line))(mainWait(waitsAt(at), 1));
  return lines;
}

function titlesAt(at: Moment): readonly string[] {
  const sight = { ...sightAt(at), host: null, expected: [] };
  const others = { silent: [], feeds: new Map(), budget: { isUsedUp: false, limit: 1_000 } };
  return troublesOf({ sights: [sight], ...others }, noon).map(({ title }) => title);
}

const measured = /^dropcast_(paused|paused_by_people|unknown_names|upload_window_open|watch_root_up)\b/;

async function samplesAt(at: Moment): Promise<readonly string[]> {
  const quiet = await samplesOf({}, at);
  const now = await samplesOf(at, at);
  return [...now]
    .filter(([name, value]) => quiet.get(name) !== value)
    .map(([name, value]) => `${name.slice(9)} ${value}`);
}

async function samplesOf(moment: Moment, { frozen = [] }: Moment): Promise<ReadonlyMap<string, number>> {
  const { daemon, state } = measuredDaemon();
  state.moment = moment;
  state.folders = ['/in', ...frozen];
  const text = await createMetrics(daemon, { version: '1', node: '26' }).text();
  return new Map([...valuesOf(text)].filter(([name]) => measured.test(name)));
}

test('the order of causes is that of what they hold', () => {
  const order: readonly WaitCause[] = ['database', 'upload host', 'paused', 'unanswered creates', 'upload window'];
  const waits = waitsAt({
    away: 'PostgreSQL cannot be reached',
    pause: host,
    people: [one],
    createsUntil: noon + minute,
    startAt: noon + minute,
  });
  expect(waits.map(({ cause }) => cause)).toEqual(order);
});
