import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ConductorSettings, ConductorWorld } from '../../src/pipeline/conductor.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { FakeHost } from './fake-host.ts';
import { rowsOf } from './held-rows.ts';
import { day, minute, outside, someLocal, startCore } from './running-core.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from './some-facts.ts';
import { someRoom } from './some-room.ts';

// A file that can only wait must not keep a processor busy, whatever it waits for.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const start = 100 * day;
const seconds = 120;

interface Waiting {
  readonly facts: Partial<Facts>;
  readonly status?: string;
  /** Some other part of the program works on it all the time. */
  readonly isHeld?: true;
  readonly meddle?: (service: FakeHost) => void;
  readonly world?: () => Partial<ConductorWorld>;
  readonly settings?: Partial<ConductorSettings>;
}

const unpublished = { plan: { ...somePlan, publish: [] } };
const inDoubt = { intent: 'old token', suspects: ['older token'] };
const done: Partial<Facts> = { ...ready, published: { feed_news: 5 }, end: 'done', endedAt: 5 };
const away = failure('suspended', { code: 'folder_away' });
const short = () => ({ ...someRoom(), limit: 10, left: 0, frees: [[30 * minute, 10] as const] });

const kinds: Readonly<Record<string, Waiting>> = {
  'in line, nothing left of the budget': { facts: {}, world: () => ({ budget: { take: never, room: short } }) },
  'in line, held': { facts: {}, isHeld: true },
  'in line, its folder sends nothing': { facts: {}, settings: { folderUploads: new Map([['/inbox', 0]]) } },
  'in line, outside the window': { facts: {}, world: () => ({ uploadsStartAt: () => 1e15 }) },
  'in line, its folder is away': { facts: {}, world: () => ({ local: { ...someLocal, check: async () => away } }) },
  'in line, its video is to be deleted, and the service refuses': {
    facts: { ...created, dying: true },
    meddle: ({ failing }) => failing.set('remove', failure('transient')),
  },
  'in line, create requests have no usable answer': {
    facts: inDoubt,
    meddle: ({ failing }) => failing.set('create', failure('transient', { inDoubt: true })),
  },
  'for its upload, held': { facts: created, isHeld: true },
  'for its upload, outside the window': { facts: created, world: () => ({ uploadsStartAt: () => 1e15 }) },
  'for its upload, sent before, outside the window': {
    facts: { ...created, uploadStartedAt: 2, sha256: 'aa' },
    world: () => ({ uploadsStartAt: () => 1e15 }),
  },
  'for its upload, its host is away': {
    facts: created,
    meddle: ({ failing }) => failing.set('send', failure('offline')),
  },
  'for its upload, its folder is away': {
    facts: created,
    world: () => ({ local: { ...someLocal, check: async () => away } }),
  },
  'for its next try, which is due, held': { facts: { notBefore: start - 1 }, isHeld: true },
  'for its next try, which is far away': { facts: { notBefore: start + day } },
  'for processing, held': { facts: { ...uploaded, processingSince: start }, isHeld: true },
  'for processing, given up, held': { facts: { ...uploaded, processingSince: start - 2 * day }, isHeld: true },
  'for processing, the budget is short': {
    facts: { ...uploaded, processingSince: start },
    world: () => ({ budget: { take: async () => true, room: short } }),
  },
  'for processing, the service fails': {
    facts: { ...uploaded, processingSince: start },
    meddle: ({ failing }) => failing.set('get', failure('transient')),
  },
  'for processing, the service is away': {
    facts: { ...uploaded, processingSince: start },
    meddle: ({ failing }) => failing.set('all', failure('offline')),
  },
  'for its feed, held': { facts: { ...ready, readyAt: start }, status: 'ready', isHeld: true },
  'for its feed, which fails': {
    facts: { ...ready, readyAt: start },
    status: 'ready',
    meddle: ({ failing }) => failing.set('publish feed_news', failure('transient')),
  },
  'for its feed, others are on their way': {
    facts: { ...ready, readyAt: start },
    settings: { publish: { quietMs: day, atMostMs: day } },
  },
  'to be deleted, held': { facts: { ...done, disposal: 'pending' }, isHeld: true },
  'to be deleted, the disk refuses': { facts: { ...done, disposal: 'pending' }, world: refusing },
  'to be deleted since before the start, the disk refuses': {
    facts: { ...done, disposal: 'waiting', lastFailure: failure('transient') },
    world: refusing,
  },
  'to be deleted, held while it waits': { facts: { ...done, disposal: 'waiting' }, isHeld: true },
  'to be deleted later, held': {
    facts: {
      ...done,
      endedAt: start - 9 * day,
      disposal: 'later',
      afterReady: { kind: 'delete', later: { afterMs: day, whenFull: null } },
    },
    isHeld: true,
  },
  'for late metadata, held': { facts: { ...done, amendment: { title: 'new' } }, isHeld: true },
  'for late metadata, refused for now': {
    facts: { ...done, amendment: { title: 'new' } },
    meddle: ({ failing }) => failing.set('amend', failure('transient')),
  },
  'for its turn as a duplicate, held': {
    facts: { ...unpublished, end: 'skipped', endedAt: 1, lastFailure: failure('duplicate', { twin: 'f_0' }) },
    isHeld: true,
  },
  'for the comparison, the list fails': {
    facts: { end: 'held', endedAt: 1, lastFailure: failure('permanent', { code: 'existing' }) },
    meddle: ({ failing }) => failing.set('list', failure('transient')),
  },
  'for the comparison, held': {
    facts: { end: 'held', endedAt: 1, lastFailure: failure('permanent', { code: 'existing' }) },
    isHeld: true,
  },
};

function refusing(): Partial<ConductorWorld> {
  return { local: { ...someLocal, dispose: async () => ({ ok: false, failure: failure('transient') }) } };
}

function never(_priority: unknown, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false), { once: true }));
}

describe('a file that waits keeps the loop at about a turn a second', () => {
  for (const [name, waiting] of Object.entries(kinds))
    test(name, async () => {
      const outer = outside([someFacts(waiting.facts)]);
      outer.service.videos.set('vid_1', { title: 'Clip', status: waiting.status ?? 'pending' });
      waiting.meddle?.(outer.service);
      const rows = rowsOf(outer.store);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      if (waiting.isHeld === true) void rows.claim('f_1', () => ended);
      const turns = vi.spyOn(outer.store, 'rows');
      startCore(outer, { rows, ...waiting.world?.() }, waiting.settings);
      for (let n = 0; n < seconds * 10; n += 1) {
        outer.clock.advance(100);
        vi.advanceTimersByTime(100);
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      end();
      const ticks = turns.mock.calls.filter(([wanted]) => wanted.group === 'retrying' && wanted.limit === 500).length;
      expect(ticks).toBeLessThan(seconds * 1.2);
      expect(outer.service.asked.length).toBeLessThanOrEqual(seconds * 2);
    });
});
