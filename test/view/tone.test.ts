import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { connectionAdvice } from '@dropcast/client';
import { anywhere } from '../../src/cli/control.ts';
import type { DaemonPlace } from '../../src/cli/control.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { NotAllowedError, NotRunningError } from '../../src/daemon/control/client.ts';
import { publishedLine } from '../../src/cli/act/now.ts';
import { retryLines } from '../../src/cli/act/files.ts';
import { accessVerdict } from '../../src/cli/doctor/checks/access.ts';
import { filesVerdict } from '../../src/cli/doctor/checks/files.ts';
import { scopeOf } from '../../src/cli/doctor/doctor.ts';
import { configOf } from '../../src/cli/doctor/finding.ts';
import { causeLines } from '../../src/cli/output/picture-lines.ts';
import { noMatch } from '../../src/cli/look/show.ts';
import { checkAddress, checkKey } from '../../src/cli/setup/service-answers.ts';
import { nextLines } from '../../src/cli/setup/setup.ts';
import { dropInFindings } from '../../src/cli/systemd/check-service.ts';
import { whyNotEntered } from '../../src/config/check-directories.ts';
import { installedService } from '../../src/config/installed-service.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { unknownNames } from '../../src/config/unknown-names.ts';
import { unknownFeed } from '../../src/daemon/commands/publish.ts';
import { causeOf } from '../../src/view/picture/causes.ts';
import { lockInstance } from '../../src/daemon/state/instance-lock.ts';
import { translated } from '../../src/ledger/ledger-error.ts';
import type { Pause } from '../../src/pipeline/events.ts';
import { grantCommand, operatorCommand } from '../../src/read-permission.ts';
import { troublesOf } from '../../src/status/notifications/troubles.ts';
import { withWaitingFiles } from '../../src/status/notifications/waiting-files.ts';
import { capitalised } from '../../src/view/words/text.ts';
import { pauseWords, overWords, fileWaitWords, ofPause, waitLines } from '../../src/view/waits.ts';
import { EventGaps } from '../../src/watch/hints.ts';
import { onlyRead } from '../../src/watch/ports.ts';
import { resumeAdvice } from '../../src/watch/root-check.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startServer } from '../support/server.ts';
import type { RetryResult } from '../../src/daemon/commands/retry.ts';

/**
 * The sentences that an operator rated, by the numbers of that review. Each cause says once what happened, since when, what dropcast does, and
 * the one command that helps. The words come from the functions that print them. 11 is systemd's own sentence; 23 and 24 are files that are closed
 * to the service (test/e2e/other-user.e2e.test.ts).
 */
const now = new Date('2026-11-27T22:17').getTime();
const minute = 60_000;
const service = installedService(null);

const away: Pause = {
  kind: 'offline',
  holds: 'everything',
  why: `http://127.0.0.1:8787 cannot be reached: ${connectionAdvice('ECONNREFUSED')}`,
  code: 'ECONNREFUSED',
  since: now - minute,
  probes: 1,
  nextProbeAt: now + minute,
};
const refused: Pause = {
  ...away,
  kind: 'suspended',
  code: 'unauthorized',
  why: 'the service refuses the API key (401); new key: `sudo dropcast setup --key-file - --force`',
};
const byRoot = { folder: null, since: now + 9 * minute, until: new Date('2026-11-28T18:00').getTime(), by: 'root' };

const seen = { silent: [], feeds: new Map(), budget: { isUsedUp: false, limit: 1_000 } };
const quiet = { host: null, pause: null, creates: [], unknown: [], folders: [], expected: [] };
const troubleOf = (more: object) => troublesOf({ ...seen, sights: [{ ...quiet, ...more }] }, now)[0];
const mailOf = (pause: Pause, queued = 5): string => {
  const { title = '', body = '', kind = 'paused' } = troubleOf({ pause }) ?? {};
  const message = { type: kind, title, body, level: 'warn', cause: '', at: now, count: 1, files: [] } as const;
  return (
    withWaitingFiles([message], { 'by state': { queued }, backlog: { toCreate: queued, toSend: queued } }, []).map(
      (each) => `${each.title}\n${each.body}`,
    )[0] ?? ''
  );
};

const refusal = Object.assign(new Error('EACCES'), { code: 'EACCES' });
const site = { configFile: service.configFile, folders: [], written: ['/srv/x'], secretFiles: [], programs: [] };
const needs = { ...site, written: [{ path: '/srv/x', realPath: '/srv/x' }], resolvers: [], port: null } as unknown;
const gap = (path: string): string => {
  const gaps = new EventGaps({
    clock: { elapsed: () => 0 } as never,
    leastMs: 1,
    folder: { path: '/srv/media/sport' },
    deafBecause: () => null,
    directories: () => 1,
  });
  gaps.failed('EACCES', path);
  return gaps.why ?? '';
};
const isRoot = process.geteuid?.() === 0;
const retried: Omit<RetryResult, 'waited' | 'mend'> = {
  v: 1,
  planned: false,
  files: 0,
  requests: 0,
  retried: [],
  examples: [],
  refused: [],
  left: [],
};
const failed = causeOf({ cause: 'processing_failed', files: 60, extensions: ['mp4'], message: 'no video' });

/** Number, where, what the product says now, what it must say. */
const sentences: readonly (readonly [number, string, () => string, RegExp])[] = [
  [
    1,
    'apt',
    () => readFileSync(new URL('../../packaging/debian/postinst', import.meta.url), 'utf8'),
    /dropcast is installed, but not running yet\. Next:\s+sudo dropcast setup/,
  ],
  [
    5,
    'setup',
    () => nextLines({ path: '/srv/media/inbox', group: 'dropcast', named: '' })[0] ?? '',
    /^Members of the group dropcast may drop files.*: sudo usermod -aG dropcast NAME/,
  ],
  [
    6,
    'setup',
    () => nextLines({ path: '/srv/media/inbox', group: null, named: '' }).join('\n'),
    /^Next: drop a file into \/srv\/media\/inbox, then `sudo dropcast status`$/,
  ],
  [7, 'journal', () => `The folder is ${onlyRead}`, /^The folder is read-only for dropcast \(after_ready: keep\)$/],
  [8, 'status', () => onlyRead, /^read-only for dropcast \(after_ready: keep\)$/],
  [
    9,
    'check',
    () => dropInFindings(needs as never, '', service)[0]?.message ?? '',
    /folders\.conf is out of date; run: sudo dropcast setup$/,
  ],
  [
    10,
    'reload',
    () => whyNotEntered('/srv/media/sport', refusal, service, true),
    /^the service may not enter \/srv\/media\/sport yet \(EACCES\)\. Fix: sudo dropcast setup$/,
  ],
  [
    12,
    'status',
    () => waitLines([ofPause(away)], now).join('\n'),
    /^Everything waits: http:\/\/127\.0\.0\.1:8787 cannot be reached: nothing listens there \(ECONNREFUSED\), since 22:16; next try at 22:18\.$/,
  ],
  [13, 'status, of a file', () => fileWaitWords(ofPause(away), now), /^waiting for the service$/],
  [
    14,
    'status',
    () => capitalised(pauseWords(byRoot, now + 9 * minute)),
    /^Paused by root since 22:26 until 2026-11-28 18:00$/,
  ],
  [15, 'top, page', () => waitLines([ofPause(away)], now).join('\n'), /; next try at 22:18\.$(?<!tried again.*)/],
  [16, 'page, mail', () => capitalised(away.why), /^http:/],
  [
    17,
    'mail',
    () => mailOf(away),
    /^Everything waits for the service\nhttp:\S+ cannot be reached: nothing listens there \(ECONNREFUSED\), since 22:16\. Nothing to do: dropcast keeps trying\.\n5 files wait\.$/,
  ],
  [18, 'mail', () => mailOf(refused), /^Everything waits for the key\n.*`sudo dropcast setup --key-file - --force`/],
  [19, 'mail', () => overWords('service'), /^The service is reachable again$/],
  [
    20,
    'mail',
    () => troubleOf({ folders: [{ path: '/srv/media/share', state: 'frozen', why: null }] })?.overTitle ?? '',
    /^\/srv\/media\/share is back$/,
  ],
  [21, 'folder', () => resumeAdvice('/srv/media/share'), /^run `(?:sudo )?dropcast resume '\/srv\/media\/share'`$/],
  [21, 'folder of the service', () => operatorCommand('dropcast resume X', true), /^sudo dropcast resume X$/],
  [
    22,
    'folder',
    () => gap('private'),
    isRoot
      ? /^user root may not open the directory "private" \(EACCES\); scanning more often instead$/
      : /^user \S+ may not open the directory "private" \(EACCES\); run `sudo setfacl -m u:\S+:rx -- '\/srv\/media\/sport\/private'`/,
  ],
  [
    25,
    'doctor',
    () => accessVerdict('/srv/media/sport', 13, './x.mp4', 'the service (user dropcast)')[0]?.why ?? '',
    /^it is not uploaded$/,
  ],
  [
    26,
    'doctor',
    () => grantCommand('/srv/media/sport/x.mp4', 'file', 'dropcast'),
    /^sudo setfacl -m u:dropcast:r -- '\/srv\/media\/sport\/x\.mp4'$/,
  ],
  [
    27,
    'doctor',
    () => filesVerdict({ stuck: 0, suspects: 0, waits: [ofPause(away)] }, { service, option: undefined })[0]?.why ?? '',
    /^nothing new is sent until it ends$/,
  ],
  [
    28,
    'doctor',
    () => accessVerdict('/srv/media/share', 2, '', 'the service')[0]?.what ?? '',
    /^could not test whether the service may use \/srv\/media\/share \(setpriv: exit 2\)$/,
  ],
  [
    30,
    'doctor, of a member',
    () => scopeOf([{ skipped: null }, { skipped: 'this needs root: run it with sudo' }], true).join('\n'),
    /^No problems in the 1 check that you may run; 1 more needs sudo\.$/,
  ],
  [
    32,
    'show',
    () => noMatch('nosuch'),
    /^no file matches nosuch: use its path, file name, id or video id, as listed by dropcast ls$/,
  ],
  [
    33,
    'publish',
    () => `feed_bogus: ${unknownFeed('feed_bogus', ['feed_news'])}`,
    /^feed_bogus: no rule publishes it; the feeds of the configuration are: feed_news\. `dropcast feeds publish feed_bogus` publishes any feed/,
  ],
  [
    36,
    'status',
    () => String(translated(full, '/var/lib/dropcast/ledger.db')),
    /the disk of \/var\/lib\/dropcast is full: free some space \(.*\); dropcast resumes within half a minute/,
  ],
  [
    37,
    'retry --all',
    () => retryLines({ ...retried, waited: 'the service cannot be reached.', mend: [] }).join(' '),
    /^Checking the service now; files wait: the service cannot be reached\. No failed files need a retry\.$/,
  ],
  [
    38,
    'status',
    () => causeLines({ ...failed, files: 60, since: null, examples: [] }, now).join('\n'),
    /^60 \.mp4 files could not be processed by the service\n.* Which: `dropcast ls --cause processing_failed`\. All of them: `/,
  ],
  [
    39,
    'publish',
    () => publishedLine({ feed: 'feed_news', is: 'published', files: 0, videos: 1, why: null }),
    /^feed_news: published; it has 1 video now$/,
  ],
  [
    40,
    'check',
    () => {
      const folders = [{ rules: [{ key: 'folders[0].rules[1]', channel: 'ch_sprot', publish: [] }] }] as never;
      const [found] = unknownNames({ folders }, { channel: ['ch_main', 'ch_news', 'ch_podcast'], feed: [] });
      const place = { file: '/etc/dropcast.yaml', line: 13, column: 18, severity: 'error' } as const;
      return formatProblem({ ...place, key: found?.key ?? '', message: found?.message ?? '' }, '/etc');
    },
    /^dropcast\.yaml:13:18 folders\[0\]\.rules\[1\]\.channel: the service has no channel "ch_sprot"; it has ch_main, ch_news, ch_podcast$/,
  ],
];
const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });

test.each(sentences)('%i, %s', (_, __, said, better) => {
  vi.useFakeTimers({ now, toFake: ['Date'] });
  try {
    expect(said()).toMatch(better);
  } finally {
    vi.useRealTimers();
  }
});

test('2 and 3, setup: an address without a scheme is tried as https, and one that is not the API says what is missing', async () => {
  await using server = await startServer((_, response) => response.writeHead(404).end());
  const { signal } = new AbortController();
  expect(await checkAddress(`127.0.0.1:${server.port}`, signal)).toMatchObject({
    why: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+ /),
  });
  expect(await checkAddress(server.origin, signal)).toEqual({
    ok: false,
    why: `${server.origin} answers, but this is not its API (404). Is the version missing, like /v1?`,
  });
});

test('4, setup: a refused key', async () => {
  await using server = await startServer((_, response) => response.writeHead(401).end());
  const { signal } = new AbortController();
  expect(await checkKey(server.origin, 'wrong', signal)).toEqual({
    ok: false,
    why: 'the service does not accept this key (401)',
  });
});

test('29, doctor: a configuration whose key this user may not read', () => {
  const checked = { problems: [{ message: 'cannot read the key: permission denied (EACCES)' }] };
  expect(() => configOf({ config: null, checked, isOutsider: true } as never)).toThrow(
    'you may not read the key; run it with sudo',
  );
});

test('31, of a member of the group while the daemon is stopped', async () => {
  const socket = '/var/lib/dropcast/dropcast.sock';
  const asked: string[] = [];
  const ask = (path: string): Promise<never> => {
    asked.push(path);
    const isClosed = path.startsWith('/var/lib');
    return Promise.reject(isClosed ? new NotAllowedError('permission denied') : new NotRunningError('no socket'));
  };
  const place = { file: service.configFile, status: { socket } } as unknown as DaemonPlace;
  await expect(anywhere(place, ask)).rejects.toThrow('the daemon is not running');
  expect(asked.at(-1)).toMatch(/^\/run\/dropcast\//);
});

test('34, an unknown command', async () => {
  const shell = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Shell;
  const program = createProgram(shell, { version: '0', samples: '' }, () => undefined).exitOverride();
  await expect(program.parseAsync(['stat'], { from: 'user' })).rejects.toThrow(
    "unknown command 'stat'\n(Did you mean status?)",
  );
});

test('35, run: a second dropcast says what shows the first', async () => {
  await using scratch = await scratchDirectory();
  await using _ = await lockInstance(scratch.path);
  await expect(lockInstance(scratch.path)).rejects.toThrow(
    `another dropcast already uses the state directory ${scratch.path}: \`dropcast status\` shows it`,
  );
});
