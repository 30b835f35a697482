import { stageOfState } from '../../../src/view/stages.ts';
import type { LivePicture, NowFile, StageName } from '../../../src/view/picture/picture.ts';
import type { FolderStatus } from '../../../src/intake/folder-status.ts';
import { sumOfAccounts } from '../../../src/watch/inventory.ts';
import { emptyPicture } from '../../../src/view/picture/take-picture.ts';

export const noon = new Date('2026-11-22T12:10:00').getTime();
const minute = 60_000;

const stageNames: readonly StageName[] = ['settling', 'queued', 'uploading', 'processing', 'publishing', 'live'];

/** A daemon to which no file ever came, with what the test wants otherwise. */
export function somePicture(other: Partial<LivePicture> = {}): LivePicture {
  const slots = Array.from({ length: 48 }, (_, n) => ({
    at: noon - 10 * minute - (47 - n) * 30 * minute,
    done: 0,
    failed: 0,
    bytes: 0,
  }));
  return {
    ...emptyPicture,
    at: noon,
    daemon: { running: true, pid: 4_711, started_at: noon - 60 * minute },
    config: '/etc/dropcast/dropcast.yaml',
    sentence: { level: 'ok', text: 'No files have arrived yet.' },
    stages: stagesWith({}),
    retrying: { files: 0, next_at: null },
    outlook: { limited_by: 'nothing', why: 'no file waits', done_at: null },
    needs_you: { files: 0, causes: [], more: { causes: 0, files: 0 } },
    now: { files: [], more: 0 },
    budget: { used: 0, limit: 1_000, others: 0, blocked_until: null, reported: null, total: 0, frees: [] },
    day: { slots, done: 0, failed: 0, bytes: 0, today: { done: 0, failed: 0, bytes: 0 } },
    ...other,
  };
}

/** Stages with these numbers of files. */
export function stagesWith(files: Partial<Record<StageName, number>>): LivePicture['stages'] {
  const nothing = { states: [], retrying: 0, last_hour: 0, oldest_since: null, bottleneck: null };
  return stageNames.map((name) => ({ ...nothing, name, files: files[name] ?? 0 }));
}

export function someFolder(other: Partial<FolderStatus> = {}): FolderStatus {
  return {
    path: '/srv/in',
    state: 'watching',
    why: null,
    paths: { seen: 9, settling: 0, offered: 9, ignored: 0, refused: 0 },
    accounts: sumOfAccounts([]),
    refused: null,
    refused_paths: [],
    left_out: { files: 0, media: 0, extensions: [], paths: [] },
    by: 'events',
    last_event_at: null,
    last_scan_at: null,
    last_scan_ms: null,
    next_scan_at: null,
    is_scanning: false,
    done_marker: null,
    without_marker: 0,
    lone_sidecars: { files: 0, first: [] },
    ...other,
  };
}

export function someNowFile(other: Partial<NowFile> = {}): NowFile {
  return {
    id: 'f_1',
    host: null,
    path: '/inbox/clip.mp4',
    state: 'uploading',
    stage: stageOfState(other.state ?? 'uploading') ?? 'queued',
    kind: 'video',
    size: 6_600_000_000,
    sent: 4_100_000_000,
    bytes_per_second: 38_000_000,
    sent_at: noon + minute,
    ready_at: noon + 22 * minute,
    next_look_at: null,
    why: null,
    ...other,
  };
}

/** A daemon in the middle of its day: something of everything. */
export function busyPicture(): LivePicture {
  const quiet = somePicture();
  const files = { settling: 1, queued: 12, uploading: 2, processing: 3, publishing: 1, live: 214 };
  return {
    ...quiet,
    sentence: {
      level: 'attention',
      text: 'Uploading 2, 13 waiting, 4 on the service; 1 folder is frozen; 1 expected delivery is missing or late; 63 need you.',
    },
    stages: quiet.stages.map((stage) => ({
      ...stage,
      files: files[stage.name],
      retrying: stage.name === 'uploading' ? 2 : 0,
      last_hour: 18,
      oldest_since: stage.name === 'queued' ? noon - 14 * minute : null,
      bottleneck:
        stage.name === 'uploading'
          ? 'all 4 are in use, and 12 more files are waiting; together they send 76 MB/s'
          : null,
    })),
    retrying: { files: 2, next_at: noon + 3 * minute },
    outlook: {
      limited_by: 'upload slots',
      why: 'all 4 are in use, and 12 more files are waiting',
      done_at: noon + 21 * minute,
    },
    needs_you: {
      files: 63,
      causes: [
        {
          key: 'processing_failed',
          title: '60 .mkv files could not be processed by the service',
          next: 'Check one of them: it may be damaged or not a video. Replace or ignore them, or retry.',
          actions: ['ignore', 'retry'],
          files: 60,
          since: noon - 30 * minute,
          examples: [
            {
              id: 'f_9',
              path: '/srv/in/archive/a-very-long-name-of-a-recording-that-wraps-on-a-phone_2026-11-22.mkv',
              why: 'the service could not process the video: it has no video track',
            },
          ],
        },
        {
          key: 'no_rule',
          title: '3 files (.srt, .txt) match no rule',
          next: 'Add a rule for them, or ignore them.',
          actions: ['ignore'],
          files: 3,
          since: noon - 90 * minute,
          examples: [{ id: 'f_8', path: '/srv/in/notes.txt', why: 'no rule matches' }],
        },
      ],
      more: { causes: 2, files: 5 },
    },
    now: {
      files: [
        someNowFile(),
        someNowFile({ id: 'f_2', path: '/srv/in/evening news.mov', sent: 900_000_000 }),
        someNowFile({
          id: 'f_3',
          path: '/srv/in/take2.mp4',
          state: 'processing',
          sent: null,
          sent_at: null,
          next_look_at: noon + 40_000,
        }),
        someNowFile({
          id: 'f_4',
          path: '/srv/in/radio.wav',
          kind: 'audio',
          state: 'retrying',
          stage: 'uploading',
          sent: null,
          sent_at: null,
          ready_at: null,
          next_look_at: noon + 3 * minute,
          why: 'the service answered 503',
        }),
      ],
      more: 3,
    },
    budget: {
      used: 412,
      limit: 1_000,
      others: 120,
      blocked_until: null,
      reported: null,
      total: 9_000,
      frees: [{ at: noon + 4 * minute, requests: 15 }],
    },
    day: {
      ...quiet.day,
      slots: quiet.day.slots.map((slot, n) => ({ ...slot, done: (n * 7) % 11, failed: n % 9 === 0 ? 2 : 0, bytes: n })),
      done: 214,
      failed: 12,
      bytes: 1_200_000_000_000,
    },
    feeds: [
      { feed: 'feed_news', published_at: noon - 9 * minute, waiting: 3, next_at: noon + minute, failure: null },
      {
        feed: 'feed_sport',
        published_at: null,
        waiting: 0,
        next_at: null,
        failure: 'the service has no feed feed_sport',
      },
    ],
    folders: [
      someFolder({ path: '/mnt/nas', state: 'frozen', why: 'nothing is mounted there since 11:55' }),
      someFolder(),
    ],
    expectations: [
      {
        key: 'evening',
        folder: '/srv/in',
        match: 'evening/*.mp4',
        day: '2026-11-22',
        from: noon - 720 * minute,
        by: noon - 40 * minute,
        count: 2,
        arrived: 1,
        live: 1,
        until: 'live',
        state: 'missing',
        why: null,
      },
    ],
    deaf_targets: [{ name: 'ops', type: 'webhook', why: 'answered 503', since: noon - 20 * minute, waiting: 3 }],
    waits: [
      {
        cause: 'paused',
        holds: 'some',
        what: '/srv/late',
        why: 'paused by anna since 11:00 until 18:00',
        since: noon - 70 * minute,
        until: noon + 350 * minute,
        remedy: '`dropcast resume /srv/late` ends it',
      },
      {
        cause: 'folder',
        holds: 'some',
        what: '/mnt/nas',
        why: 'nothing is mounted there since 11:55',
        since: null,
        until: null,
        remedy: null,
      },
    ],
  };
}
