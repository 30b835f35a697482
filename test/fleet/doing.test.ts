import { describe, expect, test } from 'vitest';
import { ofAllHosts } from '../../src/fleet/doing.ts';
import { uploadsHere } from '../../src/pipeline/steps/uploads.ts';
import { workerOf } from '../../src/view/hosts/host-view.ts';
import { createHostNews } from '../../src/fleet/hosts.ts';
import { viewOf } from '../../src/view/files/file-view.ts';
import type { ViewedDaemon } from '../../src/view/viewed-daemon.ts';
import { paceOf } from '../../src/view/outlook.ts';
import { createMessageTargets } from '../../src/daemon/message-targets.ts';
import type { Host } from '../../src/view/hosts/fleet-view.ts';
import type { FeedWait } from '../../src/pipeline/rounds/publish.ts';
import { alwaysOurs } from '../../src/pipeline/file/ports.ts';
import type { Turn } from '../../src/pipeline/file/ports.ts';
import type { Conductor } from '../../src/pipeline/conductor.ts';
import type { Rows } from '../../src/pipeline/file/rows.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { FakeFleet, noon, someHost, someUpload } from './fake-fleet.ts';

const waiting = (feed: string): FeedWait => ({
  feed,
  since: noon,
  files: 1,
  latestAt: noon,
  failure: null,
  nextTryAt: null,
});
const deaf = (name: string) => ({ name, type: 'ntfy', why: 'answered 401', since: noon });

/** This host, `a`, sends `f_1`. */
const here = {
  rows: { isHeld: (id: string) => id === 'f_1', held: () => ['f_1'] } as unknown as Rows,
  conductor: {
    uploads: () => [{ id: 'f_1', sentBytes: 1, sizeBytes: 2, idleMs: 0, bytesPerSecond: 10 }],
    pace: () => ({ bytesPerSecond: 10, processingMs: 7, latePoll: null, slots: 2 }),
    quotaRoom: () => null,
    feedsWaiting: () => [waiting('known here')],
    pollTrouble: () => ({ kind: 'budget', nextAt: noon, left: 1, limit: 2 }),
    nextPollAt: () => noon,
    comparison: () => ({ videos: 1, share: null }),
  } as unknown as Conductor,
  messageTargets: { ...createMessageTargets(), deaf: () => [deaf('known here')] },
  turn: alwaysOurs,
};
const working = (...ids: string[]) => ({
  doing: { slots: 4, places: [], work: ids.map((id) => ({ id, upload: someUpload })) },
});

describe('the work under way', () => {
  test('is that of all hosts, each upload with the host that sends it', () => {
    const seen = ofAllHosts(here, new FakeFleet(someHost('a', working('f_1')), someHost('b', working('f_2'))));
    expect(seen.rows.held()).toEqual(['f_1', 'f_2']);
    expect(['f_1', 'f_2', 'f_3'].map((id) => seen.rows.isHeld(id))).toEqual([true, true, false]);
    expect(seen.conductor.uploads().map(({ id, host }) => [id, host])).toEqual([
      ['f_1', undefined],
      ['f_2', 'b'],
    ]);
    expect(seen.conductor.pace().bytesPerSecond).toBe(60);
  });

  test.each([
    ['is silent', { isHeard: false }],
    ['is stopped', { isStopped: true }],
  ])('is not that of a host that %s', (_, host) => {
    const seen = ofAllHosts(here, new FakeFleet(someHost('a'), someHost('b', { ...working('f_2'), ...host })));
    expect([seen.rows.held(), seen.conductor.uploads().length]).toEqual([['f_1'], 1]);
  });

  test('has a file that was taken over once', () => {
    const seen = ofAllHosts(here, new FakeFleet(someHost('a'), someHost('b', working('f_1'))));
    expect([seen.rows.held(), seen.conductor.uploads().map(({ host }) => host)]).toEqual([['f_1'], [undefined]]);
  });

  test('that a stop waits for is only that of this host', () => {
    const seen = ofAllHosts(here, new FakeFleet(someHost('a'), someHost('b', working('f_2'))));
    expect(uploadsHere(seen).map(({ id }) => id)).toEqual(['f_1']);
  });

  test('knows who works on a file, if it is another host', () => {
    const fleet = new FakeFleet(someHost('a', working('f_1')), someHost('b', working('f_2')));
    expect(['f_1', 'f_2', 'f_3'].map((id) => workerOf(fleet, id))).toEqual([null, 'b', null]);
  });
});

describe('facts that only the host with the turn knows', () => {
  const rounds = {
    feeds: [waiting('told by b')],
    pollTrouble: null,
    nextPollAt: noon + 1,
    comparison: null,
    processingMs: 9,
    latePoll: null,
    deaf: [deaf('told by b')],
  };
  const b = someHost('b', { doing: { slots: 4, places: [], work: [], rounds } });
  const notOurs = { signal: () => null };

  test.each<[string, Turn, Host, readonly unknown[]]>([
    ['here, is what this host knows', alwaysOurs, b, ['known here', 'known here', 'budget', noon, 1, 7]],
    ['elsewhere, is what that host told', notOurs, b, ['told by b', 'told by b', undefined, noon + 1, undefined, 9]],
    [
      'nowhere, is not what this host knew once',
      notOurs,
      { ...b, isHeard: false },
      [undefined, undefined, undefined, null, undefined, 7],
    ],
  ])('%s', (_, turn, other, known) => {
    const { conductor, messageTargets } = ofAllHosts({ ...here, turn }, new FakeFleet(someHost('a'), other));
    expect([
      conductor.feedsWaiting()[0]?.feed,
      messageTargets.deaf()[0]?.name,
      conductor.pollTrouble()?.kind,
      conductor.nextPollAt(),
      conductor.comparison()?.videos,
      conductor.pace().processingMs,
    ]).toEqual(known);
  });
});

test('estimates count the slots of all hosts that take up files, and no limit of this host alone', () => {
  const fleet = new FakeFleet(
    someHost('a'),
    someHost('b'),
    someHost('c', { isHeard: false }),
    someHost('d', { draining: { since: noon, by: 'ana' } }),
  );
  const world = {
    ...ofAllHosts(here, fleet),
    gate: {
      snapshot: () => ({ used: 0, limit: 1_000, left: 1_000, waiting: 0, blockedMs: 0, reported: null, frees: [] }),
    },
    times: { limit: () => 200_000, mayStart: () => true, later: () => [] },
    config: () => ({ poll: { intervalMs: 1 }, publish: { quietMs: 0, atMostMs: 0 } }),
  } as unknown as ViewedDaemon;
  expect(paceOf({ ...world, fleet })).toMatchObject({ slots: 6, bandwidth: null, bytesPerSecond: 10 });
  expect(paceOf({ ...world, fleet: null })).toMatchObject({ slots: 2, bandwidth: 200_000 });
});

test('an upload of another host is shown with its progress and its host', () => {
  const fleet = new FakeFleet(someHost('a'), someHost('b', working('f_2')));
  const daemon = {
    ...ofAllHosts(here, fleet),
    fleet,
    waits: () => [],
    gate: {
      snapshot: () => ({ used: 0, limit: 1_000, left: 1_000, waiting: 0, blockedMs: 0, reported: null, frees: [] }),
    },
    times: { startAt: () => null, limit: () => null, mayStart: () => true, later: () => [] },
    config: () => ({ poll: { intervalMs: 15_000 }, publish: { quietMs: 0, atMostMs: 0 } }),
  } as unknown as ViewedDaemon;
  const view = viewOf(daemon, someFacts({ ...created, id: 'f_2' }));
  expect(view).toMatchObject({ state: 'uploading', host: 'b', sent: 400, upload: { bytes_per_second: 50 } });
});

test('the news say what becomes of the other hosts, each change once', () => {
  const fleet = new FakeFleet(someHost('a'), someHost('b'));
  const told: string[] = [];
  const look = createHostNews(fleet, { add: ({ level, text }) => told.push(`${level}: ${text}`) });
  const steps: (() => void)[] = [
    () => undefined,
    () => fleet.change('b', { ...working('f_1'), draining: { since: noon, by: 'ana' } }),
    () => fleet.change('b', working()),
    () => fleet.change('b', { draining: null }),
    () => fleet.change('b', { isHeard: false }),
    () => fleet.change('b', { isHeard: true }),
    () => fleet.change('b', { isStopped: true }),
    () => (fleet.members = [...fleet.members, someHost('c', { version: '0.4.0' })]),
    () => (fleet.away = noon),
    () => (fleet.away = null),
  ];
  for (const step of steps) {
    step();
    look();
    look();
  }
  expect(told).toEqual([
    'info: b is drained by ana: it finishes its current work and starts nothing new',
    'info: b is drained: nothing runs there',
    'info: b accepts files again',
    expect.stringMatching(/^warn: b is silent: last heard from at /),
    'info: b responds again',
    'info: b was stopped',
    'info: c has joined (dropcast 0.4.0)',
    'warn: PostgreSQL does not answer: uploads in flight continue, everything else waits',
    'info: PostgreSQL answers again',
  ]);
});
