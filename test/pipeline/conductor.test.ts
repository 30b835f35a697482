import { afterEach, describe, expect, test } from 'vitest';
import { folderAway } from '../../src/pipeline/pause.ts';
import { createConductor } from '../../src/pipeline/conductor.ts';
import type { Conductor, ConductorSettings, ConductorWorld } from '../../src/pipeline/conductor.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { logEvents } from '../../src/daemon/log-events.ts';
import type { KeptEvents } from '../../src/pipeline/events.ts';
import { rowsOf } from './held-rows.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import { LostClaimError } from '../../src/pipeline/file/rows.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { FakeHost } from './fake-host.ts';
import { MemoryStore } from './memory-store.ts';
import { recordingLogger } from './silent-logger.ts';
import { created, failure, ready, someFacts, somePlan, someVersion, uploaded } from './some-facts.ts';
import { someRoom } from './some-room.ts';
import { TestClock } from './test-clock.ts';
import { eventually } from '../support/until.ts';
import { someWorld } from './running-core.ts';

const settings: ConductorSettings = {
  uploads: 2,
  isAuto: false,
  folderUploads: new Map(),
  maxSizeBytes: Infinity,
  retry: { attempts: 3, firstMs: 1_000, maxMs: 8_000 },
  poll: { intervalMs: 1_000, giveUpAfterMs: 86_400_000 },
  publish: { quietMs: 2_000, atMostMs: 60_000 },
  deletesIn: ['/inbox'],
  isMarking: false,
};

const hurried = AbortSignal.abort();
const running: Conductor[] = [];
afterEach(async () => {
  for (const conductor of running.splice(0)) await conductor.stop(hurried);
});

function files(count: number, other: Partial<Facts> = {}): Facts[] {
  return Array.from({ length: count }, (_, n) =>
    someFacts({ id: `f_${n}`, path: `${n}.mp4`, version: { ...someVersion, size: n }, ...other }),
  );
}

/** A conductor over a service in memory. Time stands still but for what the test lets pass. */
function open(rows: readonly Facts[], other: Partial<ConductorWorld> = {}) {
  const clock = (other.clock as TestClock | undefined) ?? new TestClock();
  const store = new MemoryStore(rows, () => clock.now());
  const service = new FakeHost();
  const logger = recordingLogger();
  const logNews = logEvents(logger);
  const failures: string[] = [];
  const events: KeptEvents = {
    rowOf: () => null,
    emit: (event) => {
      if (event.type === 'failure') failures.push(`${event.facts.id} ${event.failure.kind}: ${event.next}`);
      logNews(event);
    },
  };
  const held = rowsOf((other.store as MemoryStore | undefined) ?? store, events);
  const conductor = createConductor(
    { ...someWorld({ clock, store, service }), rows: held, events, logger, ...other },
    settings,
  );
  running.push(conductor);
  conductor.start();
  /** Lets time pass in small steps until it is so; fails the test if it never is. */
  const until = async (condition: () => boolean | Promise<boolean>, stepMs = 500): Promise<void> => {
    for (let n = 0; n < 10_000; n += 1) {
      if (await condition()) return;
      clock.advance(stepMs);
      conductor.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it never came to that: ${store.states().join(', ')}`);
  };
  return { conductor, held, clock, store, service, logger, failures, until };
}

describe('files of the same content', () => {
  const three = [
    someFacts(),
    someFacts({ id: 'f_2', path: 'copy.mp4' }),
    someFacts({ id: 'f_3', path: 'another copy.mp4' }),
  ];
  const local: ConductorWorld['local'] = {
    check: async () => null,
    hash: async () => ({ ok: true, value: 'same' }),
    checksums: async () => ({ ok: true, value: [] }),
    dispose: async () => ({ ok: true, value: null }),
  };

  /** Its video fails in processing, or is deleted on the service, so many times. */
  function openFailing(rows: readonly Facts[], times: number, how: 'failed' | 'deleted') {
    const opened = open(rows, { local });
    const { videos } = opened.service;
    let left = times;
    // They all have the hash of the fake host's answer: the id of the file. Here they have one content.
    const send = opened.service.host.send;
    opened.service.host.send = async (facts, hooks) => {
      const answer = await send(facts, { ...hooks, beforeLastPart: () => hooks.beforeLastPart('same') });
      return answer.ok ? { ok: true, value: { sha256: 'same' } } : answer;
    };
    const spoil = (): void => {
      for (const [id, video] of videos) {
        if (video.status !== 'processing' || left === 0) continue;
        left -= 1;
        if (how === 'failed') video.status = 'failed';
        else videos.delete(id);
      }
    };
    opened.service.beforeLook = spoil;
    return opened;
  }

  test.each([
    ['failed', 1, ['failed', 'done', 'skipped']],
    ['failed', 2, ['failed', 'failed', 'done']],
    ['deleted', 1, ['held', 'done', 'skipped']],
    ['deleted', 2, ['held', 'held', 'done']],
  ] as const)('take the place of one whose video is %s, %i times', async (how, times, states) => {
    const { conductor, store, service, until } = openFailing(three, times, how);
    await until(async () => (await conductor.isIdle()) && store.states().includes('done'));
    expect(store.states()).toEqual(states);
    expect(service.count('send')).toBe(times + 1);
  });

  test('take its place also when dropcast was stopped right after it had failed', async () => {
    const skipped = { end: 'skipped', lastFailure: failure('duplicate', { twin: 'f_1' }) } as const;
    const rows = three.map((row, n) =>
      n === 0
        ? { ...row, ...uploaded, videoId: 'vid_0', end: 'failed' as const, remoteStatus: 'failed' }
        : { ...row, ...skipped },
    );
    const { conductor, store, until } = openFailing(rows, 0, 'failed');
    await until(async () => (await conductor.isIdle()) && store.states().includes('done'));
    expect(store.states()).toEqual(['failed', 'done', 'skipped']);
  });

  test('are uploaded once when the one that failed is retried at the same time', async () => {
    const { conductor, store, service, until } = openFailing(three, 1, 'failed');
    await until(async () => store.row('f_2').videoId !== null);
    await until(async () => (await conductor.apply('f_1', { type: 'RETRY' })) === 'applied');
    await until(async () => (await conductor.isIdle()) && store.states().includes('done'));
    expect(store.states().toSorted()).toEqual(['done', 'skipped', 'skipped']);
    expect(service.count('send')).toBe(2);
  });
});

describe('from drop to done', () => {
  test('every file is created, uploaded and published, with one publish', async () => {
    const { conductor, store, service, until } = open(files(30));
    await until(() => conductor.isIdle());
    expect(new Set(store.states())).toEqual(new Set(['done']));
    expect([service.count('create'), service.count('send'), service.count('status')]).toEqual([30, 30, 0]);
    expect(service.count('publish feed_news')).toBeLessThanOrEqual(2);
    expect(service.mostSending).toBeLessThanOrEqual(2);
    // create + publish + the sweeps
    expect(service.count('list') + service.count('get')).toBeLessThan(30);
    expect(conductor.uploads()).toEqual([]);
  });

  test('two files of the same content are one video', async () => {
    const rows = [someFacts(), someFacts({ id: 'f_2', path: 'copy.mp4' })];
    const { conductor, store, service, failures, until } = open(rows, {
      local: {
        check: async () => null,
        hash: async () => ({ ok: true, value: 'f_1' }),
        checksums: async () => ({ ok: true, value: [] }),
        dispose: async () => ({ ok: true, value: null }),
      },
    });
    await until(() => conductor.isIdle());
    expect([store.states(), service.videos.size]).toEqual([['done', 'skipped'], 1]);
    expect(failures).toEqual(['f_2 duplicate: skipped']);
  });

  test('a copy is uploaded when the first one fails', async () => {
    const rows = [someFacts(), someFacts({ id: 'f_2', path: 'copy.mp4' })];
    const { conductor, store, service, until } = open(rows, {
      local: {
        check: async () => null,
        hash: async () => ({ ok: true, value: 'same' }),
        checksums: async () => ({ ok: true, value: [] }),
        dispose: async () => ({ ok: true, value: null }),
      },
    });
    const { send } = service.host;
    service.host.send = async (facts, hooks) =>
      facts.id === 'f_1' ? { ok: false, failure: failure('permanent') } : send(facts, hooks);
    await until(() => conductor.isIdle());
    expect(store.states()).toEqual(['failed', 'done']);
  });

  test('files that wait for a folder continue as soon as it is back, those of another folder do not', async () => {
    const notBefore = new TestClock().now() + 300_000;
    const away = { notBefore, lastFailure: failure('suspended', { code: folderAway }) };
    const rows = [someFacts(away), someFacts({ ...away, id: 'f_2', folder: '/other' })];
    const { conductor, clock, store, until } = open(rows);
    conductor.folderBack('/inbox');
    await until(() => store.states()[0] === 'done');
    expect(store.states()).toEqual(['done', 'retrying']);
    expect(clock.now()).toBeLessThan(notBefore);
  });

  test('what is left to do with finished files is done too', async () => {
    const finished = {
      ...ready,
      sha256: 'f_1',
      published: { feed_news: 1 },
      end: 'done',
      disposal: 'pending',
    } as const;
    const { conductor, store, service, until } = open([someFacts({ ...finished, amendment: { title: 'Late' } })]);
    await until(() => conductor.isIdle());
    expect(store.row()).toMatchObject({ disposal: 'deleted', amendment: null });
    expect(service.asked).toEqual(['amend', 'publish feed_news']);
  });

  test.each([413, 400])(
    'one file of a hundred that the upload host refuses (%s) fails with the reason, and holds up no other',
    async (status) => {
      const { conductor, service, store, failures, until } = open(files(100));
      const { send } = service.host;
      let refused = 0;
      service.host.send = async (facts, hooks) => {
        if (facts.id !== 'f_50') return send(facts, hooks);
        refused += 1;
        return {
          ok: false,
          failure: failure('permanent', { code: `http_${status}`, status, message: `HTTP ${status}` }),
        };
      };
      await until(() => conductor.isIdle());
      expect(store.states().filter((state) => state === 'done')).toHaveLength(99);
      expect(store.row('f_50')).toMatchObject({ end: 'failed', why: `HTTP ${status}` });
      expect([refused, failures]).toEqual([1, ['f_50 permanent: failed']]);
    },
  );

  test('a local file that is deleted later goes automatically, weeks after it was done', async () => {
    const later = { afterMs: 14 * 86_400_000, whenFull: null };
    const file = someFacts({ afterReady: { kind: 'delete', later }, plan: { ...somePlan, publish: [] } });
    const { conductor, clock, store, service, until } = open([file]);
    await until(() => conductor.isIdle());
    expect(store.row()).toMatchObject({ end: 'done', disposal: 'later' });
    const { length } = service.asked;
    clock.advance(later.afterMs - 1_000);
    await until(() => store.row().disposal === 'deleted');
    expect(service.asked.slice(length)).toEqual(['status']);
  });

  test('an upload under way is shown with its progress', async () => {
    const { conductor, service, until } = open(files(1));
    const gate = Promise.withResolvers<void>();
    service.uploadGate = gate.promise;
    await until(() => conductor.uploads().length === 1);
    expect(conductor.uploads()).toMatchObject([{ id: 'f_0', sentBytes: 1 }]);
    gate.resolve();
    await until(() => conductor.isIdle());
    expect(conductor.uploads()).toEqual([]);
  });
});

describe('an unreachable service', () => {
  test('stops everything, is probed alone, and costs no file an attempt', async () => {
    const { conductor, store, service, logger, until } = open(files(20));
    service.failing.set('all', failure('offline'));
    await until(() => conductor.pause() !== null);
    await until(() => service.count('probe') >= 5);
    expect(conductor.pause()).toMatchObject({ kind: 'offline', why: 'it was offline' });
    // What was under way when it closed, and no more.
    expect(service.count('create')).toBeLessThanOrEqual(4);
    service.failing.clear();
    await until(() => conductor.isIdle());
    expect(new Set(store.states())).toEqual(new Set(['done']));
    expect(Math.max(...store.all.map(({ attempts }) => attempts))).toBe(0);
    const news = logger.lines.filter(({ fields }) => fields['file'] === undefined);
    expect(news.map(({ message }) => message)).toEqual([
      'Everything waits for the service',
      'The service is reachable again',
    ]);
  });

  test('a refused key: one probe every five minutes, and at once when a person asks', async () => {
    const { conductor, service, clock, until } = open(files(3));
    service.failing.set('all', failure('suspended', { status: 401 }));
    await until(() => conductor.pause() !== null);
    const probes = service.count('probe');
    await until(() => service.count('probe') > probes, 10_000);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(300_000);
    conductor.probeNow();
    await until(() => service.count('probe') > probes + 1, 0);
    service.failing.clear();
    conductor.probeNow();
    await until(() => conductor.isIdle());
  });

  test('a start asks again at once for what waited for the service: a new key takes one', async () => {
    const [refused, broken] = files(2, { notBefore: 1_300_000 });
    const { clock, store, until } = open([
      someFacts({ ...refused, lastFailure: failure('suspended', { status: 401 }) }),
      someFacts({ ...broken, lastFailure: failure('transient', { retryAfterMs: 300_000 }) }),
    ]);
    await until(() => stateOf(store.row('f_0')) === 'done');
    expect(clock.elapsed()).toBeLessThan(60_000);
    expect(stateOf(store.row('f_1'))).toBe('retrying');
  });

  // The API answers every probe, so each cycle of pause and release would cost requests for nothing.
  test('an unreachable upload host uses few requests', async () => {
    const { conductor, service, clock, until } = open(files(4));
    service.failing.set('send', failure('offline'));
    await until(() => clock.elapsed() > 3_600_000, 1_000);
    expect(service.asked.filter((name) => name !== 'send').length).toBeLessThan(400);
    service.failing.clear();
    await until(() => conductor.isIdle());
  });

  test('a single bad file pauses nothing', async () => {
    const { conductor, store, service, until } = open(files(10));
    const { send } = service.host;
    service.host.send = async (facts, hooks) =>
      facts.id === 'f_3' ? { ok: false, failure: failure('transient', { status: 500 }) } : send(facts, hooks);
    await until(() => conductor.isIdle());
    expect(store.states().filter((state) => state === 'done')).toHaveLength(9);
    expect(stateOf(store.row('f_3'))).toBe('failed');
    expect(conductor.pause()).toBeNull();
  });
});

describe('a record that no file needs any longer', () => {
  test.each(['superseded', 'vanished'] as const)('because its file %s before it was sent is deleted', async (end) => {
    const { store, service, until } = open([someFacts({ ...created, end, endedAt: 1 })]);
    service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
    await until(() => !service.videos.has('vid_1'));
    await until(() => store.row().videoId === null);
    expect(store.row()).toMatchObject({ end, dying: false });
    expect(service.count('create')).toBe(0);
  });
});

describe('create requests without an answer', () => {
  const inDoubt = failure('transient', { inDoubt: true, status: 502 });

  test('are capped at twenty an hour, and continue after it', async () => {
    const { conductor, service, clock, logger, failures, until } = open(files(100));
    service.failing.set('create', inDoubt);
    await until(() => clock.elapsed() > 3_000_000, 5_000);
    const inFirstHour = service.count('create');
    expect(inFirstHour).toBeGreaterThanOrEqual(20);
    expect(inFirstHour).toBeLessThanOrEqual(21);
    // The others stay queued, and are not taken up and put back all the time.
    expect(failures.length).toBeLessThan(50);
    const goesOnAt = conductor.createsWaitUntil() ?? 0;
    expect(goesOnAt).toBeGreaterThan(clock.now());
    expect(logger.lines.filter(({ message }) => message.startsWith('Create requests wait'))).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ until: new Date(goesOnAt).toISOString() }) }),
    ]);
    service.failing.clear();
    await until(() => service.count('create') > inFirstHour, 5_000);
    expect(clock.now()).toBeGreaterThanOrEqual(goesOnAt);
    await until(() => conductor.createsWaitUntil() === null, 5_000);
    expect(logger.lines.map(({ message }) => message)).toContain('Create requests resumed');
  });

  test('are still capped after a restart', async () => {
    const first = open(files(100));
    first.service.failing.set('create', inDoubt);
    await first.until(() => first.service.count('create') >= 20);
    await first.conductor.stop(hurried);
    const next = open([], { store: first.store, clock: first.clock });
    await next.until(() => next.conductor.createsWaitUntil() !== null);
    let turns = 0;
    await next.until(() => (turns += 1) > 50, 1_000);
    expect(next.service.count('create')).toBe(0);
  });

  test('stop nothing that needs no create: uploads, polling and publishing continue', async () => {
    const waiting = files(25).map((facts) => ({ ...facts, suspects: [`lost ${facts.id}`] }));
    const bound = [
      someFacts({ ...created, id: 'f_bound', path: 'bound.mp4' }),
      someFacts({ ...uploaded, id: 'f_sent', path: 'sent.mp4', videoId: 'vid_2' }),
      someFacts({ ...ready, id: 'f_ready', path: 'ready.mp4', videoId: 'vid_3' }),
    ];
    const { store, service, until } = open([...waiting, ...bound]);
    for (const id of ['vid_1', 'vid_2', 'vid_3']) service.videos.set(id, { title: id, status: 'pending' });
    service.videos.set('vid_2', { title: 'sent', status: 'processing' });
    await until(() => bound.every(({ id }) => stateOf(store.row(id)) === 'done'));
    expect(service.count('create')).toBe(0);
    expect(waiting.every(({ id }) => stateOf(store.row(id)) === 'queued')).toBe(true);
  });

  test('of the future, after the clock was set back, hold up nothing', async () => {
    const { clock, store, until } = open(files(25).map((facts) => ({ ...facts, suspects: [`lost ${facts.id}`] })));
    clock.set(1);
    await until(() => store.states().includes('done'));
  });

  test('leave a suspect each', async () => {
    const { store, service, until } = open(files(1));
    service.failing.set('create', failure('transient', { inDoubt: true }));
    await until(() => stateOf(store.row('f_0')) === 'failed');
    expect(store.row('f_0').suspects).toEqual(['token 1', 'token 2', 'token 3']);
    expect(store.row('f_0').intent).toBeNull();
  });
});

describe('time', () => {
  test('a deadline that only a wrong clock can have set is not waited for', async () => {
    const far = someFacts({ ...created, notBefore: 1_000_000 + 30 * 86_400_000, lastFailure: failure('transient') });
    const { store, clock, until } = open([far]);
    await until(() => stateOf(store.row()) !== 'retrying');
    expect(clock.elapsed()).toBeLessThan(5_000);
  });

  test('nor is one when the clock is set back while the daemon runs', async () => {
    const { store, service, clock, until } = open(files(1));
    service.failing.set('send', failure('transient'));
    await until(() => stateOf(store.row('f_0')) === 'retrying');
    clock.set(clock.now() - 10 * 86_400_000);
    service.failing.clear();
    await until(() => stateOf(store.row('f_0')) === 'done');
    expect(clock.elapsed()).toBeLessThan(60_000);
  });

  test('an honest deadline is waited for', async () => {
    const { store, clock, until } = open([
      someFacts({ ...created, notBefore: 1_060_000, lastFailure: failure('transient', { retryAfterMs: 60_000 }) }),
    ]);
    await until(() => stateOf(store.row()) !== 'retrying');
    expect(clock.elapsed()).toBeGreaterThanOrEqual(60_000);
  });
});

describe('the turn of a fleet', () => {
  const retrying = someFacts({ ...created, id: 'f_1', notBefore: 1, lastFailure: failure('transient') });
  const ready = someFacts({ ...created, id: 'f_2', uploadedAt: 1, processingSince: 1, remoteStatus: 'processing' });

  test.each([
    ['a due retry', retrying, 'retrying'],
    ['a question how far a video is', ready, 'processing'],
  ])('while another host has it, leaves %s to that one; once it is won, it is done', async (_name, row, state) => {
    let turn: AbortSignal | null = null;
    const { store, service, clock, until } = open([row], { turn: { signal: () => turn } });
    service.videos.set('vid_1', { title: '', status: 'ready' });
    const start = clock.now();
    await until(() => clock.now() > start + 60_000);
    expect([store.states(), service.asked]).toEqual([[state], []]);
    turn = new AbortController().signal;
    await until(() => store.states()[0] !== state);
  });

  test('that is lost cuts what only one may do', async () => {
    const lost = new AbortController();
    const { service, until } = open([ready], { turn: { signal: () => (lost.signal.aborted ? null : lost.signal) } });
    const signals: AbortSignal[] = [];
    const cut = async (signal: AbortSignal) => {
      signals.push(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { ok: false, failure: failure('suspended') } as const;
    };
    service.library.list = (_page, signal) => cut(signal);
    service.library.get = (_id, signal) => cut(signal);
    service.host.status = (_id, signal) => cut(signal);
    await until(() => signals.length > 0);
    lost.abort();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await until(() => true);
    expect(signals).toHaveLength(1);
  });
});

describe('a host that is drained', () => {
  test('asks the service nothing and moves no file, until it takes up files again', async () => {
    let isDrained = true;
    const { store, service, clock, until } = open(files(3), { mayTake: () => !isDrained });
    const [start, rows] = [clock.now(), [...store.all]];
    await until(() => clock.now() > start + 60_000);
    expect([service.asked, store.all]).toEqual([[], rows]);
    isDrained = false;
    await until(() => store.states().every((state) => state === 'done'));
  });

  test('finishes its upload, and leaves the rest of the way to others', async () => {
    let isDrained = false;
    const { store, service, clock, until } = open(files(1), { mayTake: () => !isDrained });
    const gate = Promise.withResolvers<void>();
    service.uploadGate = gate.promise;
    await until(() => service.sending === 1);
    isDrained = true;
    gate.resolve();
    await until(() => store.states().includes('processing'));
    const [asked, start] = [service.asked.length, clock.now()];
    await until(() => clock.now() > start + 60_000);
    expect(service.asked.slice(asked)).toEqual([]);
  });
});

describe('the end', () => {
  test('uploads may finish, and nothing new begins', async () => {
    const { conductor, store, service, until } = open(files(10));
    const gate = Promise.withResolvers<void>();
    service.uploadGate = gate.promise;
    await until(() => service.sending === 2);
    const stopped = conductor.stop(new AbortController().signal);
    gate.resolve();
    await stopped;
    expect(service.count('send')).toBe(2);
    expect(store.states().filter((state) => state === 'processing')).toHaveLength(2);
    running.length = 0;
  });

  test('a hurry cuts them, and no file pays for it', async () => {
    const { conductor, store, service, failures, until } = open(files(10));
    service.uploadGate = new Promise(() => undefined);
    await until(() => service.sending === 2);
    await conductor.stop(hurried);
    expect(store.states().filter((state) => state === 'awaiting upload').length).toBeGreaterThanOrEqual(2);
    expect(store.all.every(({ attempts, end }) => attempts === 0 && end === null)).toBe(true);
    expect(failures).toEqual([]);
    running.length = 0;
  });

  test('a create request under way is waited for even then', async () => {
    const { conductor, store, service, until } = open(files(1));
    const { create } = service.host;
    const gate = Promise.withResolvers<void>();
    let isAsked = false;
    service.host.create = async (...asked) => {
      isAsked = true;
      await gate.promise;
      return create(...asked);
    };
    await until(() => isAsked);
    const stopped = conductor.stop(hurried);
    gate.resolve();
    await stopped;
    expect(store.row('f_0').videoId).toBe('vid_1');
    running.length = 0;
  });

  test('a waiter for the budget is released', async () => {
    const { conductor, store, until, held } = open(files(1), {
      budget: {
        take: (_lane, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(false), { once: true });
          }),
        room: () => someRoom(),
      },
    });
    await until(() => held.isHeld('f_0'));
    await conductor.stop(new AbortController().signal);
    expect(store.row('f_0')).toMatchObject({ intent: null, attempts: 0 });
    running.length = 0;
  });
});

// A pause would stop uploads for something that only publishing is refused.
test('two feeds that cannot be published are no outage', async () => {
  const publish = (feed: string): Partial<Facts> => ({ plan: { ...somePlan, publish: [feed] } });
  const { conductor, service, logger, until } = open([
    someFacts({ ...ready, ...publish('feed_news') }),
    someFacts({ ...ready, ...publish('feed_tv'), id: 'f_2' }),
  ]);
  const broken = failure('transient', { status: 500 });
  service.failing.set('publish feed_news', broken).set('publish feed_tv', broken);
  await until(() => conductor.isIdle());
  expect(service.count('publish feed_news')).toBe(3);
  expect(logger.lines.map(({ message }) => message)).not.toContainEqual(expect.stringContaining('waits'));
});

describe('the loop sleeps', () => {
  /** How often the ledger is asked for files while so many turns of the event loop pass. */
  async function looks(store: MemoryStore, work: () => Promise<unknown> = async () => undefined): Promise<number> {
    const { rows } = store;
    let count = 0;
    store.rows = (wanted) => {
      if (wanted.group === 'in state' || wanted.group === 'retrying') count += 1;
      return rows.call(store, wanted);
    };
    for (let n = 0; n < 200; n += 1) {
      await work();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return count;
  }

  test('while another worker holds the only file', async () => {
    const store = new MemoryStore([someFacts()]);
    store.claimed.add('f_1');
    open([], { store });
    expect(await looks(store)).toBeLessThan(50);
  });

  test('while events come that change nothing', async () => {
    const { conductor, store, until } = open(files(1));
    await until(() => conductor.isIdle());
    expect(await looks(store, () => conductor.apply('f_0', { type: 'FILE_GONE' }))).toBeLessThan(50);
  });
});

describe('a ledger that takes no writes', () => {
  const full = (): Error => new LedgerUnavailableError('disk full');

  test('pauses everything when a file cannot be taken in, with the reason', async () => {
    const { conductor } = open([]);
    conductor.broke('intake', new Error('a mistake of ours'));
    expect(conductor.pause()).toBeNull();
    conductor.broke('intake', full());
    expect(conductor.pause()).toMatchObject({ kind: 'suspended', why: expect.stringMatching(/state directory.*full/) });
  });

  test('pauses everything instead of asking the service again and again', async () => {
    const { conductor, store, service, logger, clock, until } = open(files(5));
    const { save } = store;
    let isFull = true;
    store.save = (facts, note) => (isFull ? Promise.reject(full()) : save.call(store, facts, note));
    await until(() => conductor.pause() !== null);
    expect(conductor.pause()).toMatchObject({ kind: 'suspended', why: expect.stringMatching(/state directory.*full/) });
    await until(() => clock.elapsed() > 3_600_000, 1_000);
    expect(service.count('create')).toBe(0);
    // A probe each half minute; in the daemon the request budget, which cannot be recorded either, sends none of them.
    expect(service.asked.length).toBeLessThan(130);
    expect(logger.lines.length).toBeLessThan(800);
    isFull = false;
    await until(() => conductor.isIdle());
    expect(new Set(store.states())).toEqual(new Set(['done']));
  });

  test.each([
    ['polling', uploaded, 'get'],
    ['publishing', ready, 'publish feed_news'],
  ])('pauses everything while %s too, with the reason and not as a mistake of ours', async (_name, facts, request) => {
    const { conductor, store, service, logger, clock, until } = open([someFacts({ ...facts, sha256: 'f_1' })]);
    service.videos.set('vid_1', { title: 'Clip', status: 'ready' });
    const { save } = store;
    let isFull = true;
    store.save = (row, note) => (isFull ? Promise.reject(full()) : save.call(store, row, note));
    await until(() => conductor.pause() !== null);
    expect(conductor.pause()).toMatchObject({ kind: 'suspended', why: expect.stringMatching(/state directory.*full/) });
    expect(service.count(request)).toBe(1);
    await until(() => clock.elapsed() > 3_600_000, 1_000);
    // A probe each half minute, and after each one look; in the daemon the request budget sends neither.
    expect(service.count(request)).toBeLessThanOrEqual(121);
    expect(new Set(logger.lines.map(({ message }) => message))).toEqual(
      new Set(['Everything waits for this machine', 'This machine works again']),
    );
    isFull = false;
    await until(() => conductor.isIdle());
    expect(store.states()).toEqual(['done']);
  });
});

describe('a ledger that refuses once', () => {
  const calls = ['save', 'claim', 'receipt'] as const;

  /** One file from drop to deleted, with one call that fails. @returns how many calls there were */
  async function live(call: (typeof calls)[number], nth: number): Promise<number> {
    const store = new MemoryStore([someFacts({ afterReady: { kind: 'delete' } })]);
    const { save, claim } = store;
    let count = 0;
    const pass = (name: (typeof calls)[number]): void => {
      if (name !== call) return;
      count += 1;
      if (count === nth) throw new LedgerUnavailableError('disk full');
    };
    store.save = async (facts, note) => {
      pass('save');
      return save.call(store, facts, note);
    };
    store.claim = async (id) => {
      pass('claim');
      return claim.call(store, id);
    };
    const { conductor, service, until } = open([], {
      store,
      receipts: { append: async () => pass('receipt') },
    });
    await until(async () => (await conductor.isIdle()) && store.claimed.size === 0);
    expect(store.row()).toMatchObject({ end: 'done', disposal: 'deleted', attempts: 0 });
    const sent = [...service.videos].filter(([, { status }]) => status !== 'pending');
    expect(sent.map(([id]) => id)).toEqual([store.row().videoId]);
    expect(service.videos.size - 1).toBe(store.row().suspects.length);
    return count;
  }

  test.each(calls)('at any %s: the file is done, sent once, and pays with no attempt', async (call) => {
    const most = await live(call, 0);
    expect(most).toBeGreaterThan(2);
    for (let nth = 1; nth <= most; nth += 1) await live(call, nth);
  });
});

test.each([new StaleRowError('expected revision 1'), new LostClaimError('held by another worker')])(
  'a row that went to another worker is no mistake of ours: $name',
  (error) => {
    const { conductor, logger } = open([]);
    conductor.broke('intake', error);
    expect(logger.lines).toMatchObject([{ level: 'warn', message: 'Another worker has the file now' }]);
    expect(conductor.pause()).toBeNull();
  },
);

describe('whether the loop turns', () => {
  const tenMinutes = 600_000;

  test('with nothing to do it does', async () => {
    const { conductor, clock, until } = open([]);
    await until(() => clock.elapsed() >= tenMinutes);
    expect(clock.elapsed() - conductor.progressedAt()).toBeLessThanOrEqual(2_000);
  });

  test('with a ledger that does not answer it does not', async () => {
    const rows = new MemoryStore([]);
    const store = Object.assign(rows, { heads: () => new Promise<never>(() => undefined) });
    const { conductor, clock, until } = open([], { store });
    await until(() => clock.elapsed() >= tenMinutes);
    expect(conductor.progressedAt()).toBe(0);
    // What hangs here is hung at the end of the test as well.
    running.length = 0;
  });

  test('with a ledger that refuses each tick for no reason of the machine it does not', async () => {
    const refuse = () => Promise.reject(new Error('a mistake of ours'));
    const { conductor, clock, until } = open([], { store: Object.assign(new MemoryStore([]), { rows: refuse }) });
    await until(() => clock.elapsed() >= tenMinutes);
    expect(conductor.progressedAt()).toBe(0);
  });

  test('with a full disk it does, because a restart would fix nothing', async () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const refuse = () => Promise.reject(full);
    const { conductor, clock, until } = open([], { store: Object.assign(new MemoryStore([]), { rows: refuse }) });
    await until(() => clock.elapsed() >= tenMinutes);
    expect(clock.elapsed() - conductor.progressedAt()).toBeLessThanOrEqual(2_000);
  });

  test('within a long tick it does so with every row', async () => {
    const waiting = files(500, { notBefore: 500, attempts: 1, lastFailure: failure('transient') });
    const store = new MemoryStore(waiting);
    const clock = new TestClock();
    const ages: number[] = [];
    const save = store.save.bind(store);
    let conductor: Conductor | null = null;
    store.save = async (facts, note) => {
      if (conductor !== null) ages.push(clock.elapsed() - conductor.progressedAt());
      clock.advance(1_000);
      return save(facts, note);
    };
    ({ conductor } = open(waiting, { store, clock }));
    await eventually('every row was saved', () => expect(ages.length).toBeGreaterThanOrEqual(500));
    expect(Math.max(...ages.slice(0, 500))).toBeLessThanOrEqual(2_000);
  });
});
