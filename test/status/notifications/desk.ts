import type { Config } from '../../../src/config/config.ts';
import type { MessageTarget } from '../../../packages/notify/src/target.ts';
import { newsKinds } from '../../../packages/notify/src/target.ts';
import { secret } from '../../../src/config/secret.ts';
import { createEventStream } from '../../../src/daemon/events.ts';
import type { ExpectationView } from '../../../src/pipeline/expectation.ts';
import { createMessageTargets } from '../../../src/daemon/message-targets.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Host } from '../../../src/view/hosts/fleet-view.ts';
import type { NewsRows } from '../../../src/ledger/news-rows.ts';
import type { Pause } from '../../../src/pipeline/events.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { UnknownName } from '../../../src/pipeline/service-names.ts';
import type { Envelope } from '../../../packages/notify/src/message.ts';
import { createNotifications } from '../../../src/status/notifications/notifications.ts';
import type { NotificationsWorld } from '../../../src/status/notifications/notifications.ts';
import type { Sent } from '../../../packages/notify/src/senders/sent.ts';
import { failure, someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { recordingLogger } from '../../pipeline/silent-logger.ts';

export const minute = 60_000;
export const noon = new Date('2026-11-22T12:00:00').getTime();
export const taken: Sent = { ok: true, answer: 'answered 200' };
export const away: Sent = { ok: false, why: 'nothing listens there', mayHaveArrived: false, isRefusal: false };

export const target = (name: string, more: Partial<MessageTarget> = {}): MessageTarget =>
  ({
    type: 'webhook',
    name,
    url: secret('https://hooks.example.com/secret'),
    token: null,
    headers: {},
    timeoutMs: 1_000,
    on: [...newsKinds],
    quiet: null,
    daily: { at: 23 * 60 + 59, isForIdleDays: false },
    ...more,
  }) as MessageTarget;

/** A file that was expected at noon and is missing. @param place how the fleet names the folder */
export const missingFile = (place: string, folder: string): ExpectationView => ({
  key: `["${place}","*.mp4"]`,
  folder,
  match: '*.mp4',
  day: '2026-11-22',
  from: noon - 60 * minute,
  by: noon,
  count: 1,
  arrived: 0,
  live: 0,
  until: 'live',
  state: 'missing',
  why: null,
});

/** A desk with a directory of its own, which knows what there was before. */
export async function settledDesk(notify: Config['notify'] = [target('a')]) {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const here = stack.use(await desk(scratch.path, notify));
  await here.settle();
  const parts = stack.move();
  return { ...here, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Notifications on a real ledger, beside a daemon that is only told about, with a clock that stands still. */
export async function desk(directory: string, notify: Config['notify'], at = noon) {
  const stack = new AsyncDisposableStack();
  const ledger = stack.use(await openLedger(directory));
  const logger = recordingLogger();
  const events = createEventStream(logger);
  const world = {
    now: at,
    notify,
    folders: [] as Config['folders'],
    pause: null as Pause | null,
    isHanging: false,
    turn: new AbortController().signal as AbortSignal | null,
    /** Its hosts; null: this one is alone. */
    hosts: null as readonly Host[] | null,
    frozen: [] as string[],
    unknown: [] as UnknownName[],
    expectations: [] as ExpectationView[],
    gate: { used: 0, limit: 1000, blockedUntil: 0, waiting: 0 },
    stopped: new AbortController().signal,
    answer: (() => taken) as (target: string, message: Envelope) => Sent | Promise<Sent>,
    /** Before and after each call of the ledger: throws what the ledger would, or never returns, like a process that was killed. */
    atLedger: (() => undefined) as (call: keyof NewsRows, moment: 'before' | 'after') => void | Promise<void>,
  };
  const messageTargets = createMessageTargets();
  const sent: (Envelope & { target: string })[] = [];
  const notifications = stack.use(
    createNotifications({
      daemon: {
        ledger: {
          ...ledger,
          id: ledger.id,
          news: watched(ledger.news, (...at) => world.atLedger(...at)),
        },
        events,
        conductor: { pause: () => world.pause, createsPauses: () => [], names: { unknown: () => world.unknown } },
        folders: { status: () => world.frozen.map((path) => ({ path, state: 'frozen', why: 'it is not mounted' })) },
        gate: { snapshot: () => world.gate },
        expectations: { list: () => world.expectations },
        get fleet() {
          const { hosts } = world;
          return hosts && { known: () => hosts };
        },
        turn: { signal: () => world.turn },
        messageTargets,
        feedLinks: { find: (feed: string) => `https://feeds.example.com/${feed}` },
        config: () => ({ notify: world.notify, folders: world.folders, status: { hosts: ['dropcast.example.com'] } }),
      } as unknown as NotificationsWorld['daemon'],
      logger,
      now: () => world.now,
      env: {},
      send: async ({ name }, message, signal) => {
        world.stopped = signal;
        const answer = await world.answer(name, message);
        if (answer.ok) sent.push({ ...message, target: name });
        return answer;
      },
    }),
  );
  const settle = async (): Promise<void> => {
    await notifications.tick();
    // A target that never answers is never idle.
    if (!world.isHanging) await notifications.idle();
  };
  return {
    world,
    deaf: () => messageTargets.deaf().map(({ name, since }) => [name, since]),
    ledger,
    logger,
    events,
    notifications,
    sent,
    titles: () => sent.map(({ title, target: name }) => `${name}: ${title}`),
    /** Time passes, and it is looked every 15 s, or as often as said. */
    pass: async (ms: number, stepMs = 15_000) => {
      for (const end = world.now + ms; world.now < end;) {
        world.now = Math.min(end, world.now + stepMs);
        await settle();
      }
    },
    settle,
    async becomes(id: string, change: Partial<Facts>): Promise<void> {
      const facts = someFacts({ id, path: `${id}.mp4`, discoveredAt: world.now, ...change });
      const [known] = await ledger.find(id);
      if (known === undefined) await ledger.insert(facts);
      else await ledger.save({ ...known, ...change, rev: known.rev });
      events.emit({ type: 'file', before: null, facts, note: null });
    },
    /** As kill -9: nothing of what is under way ends well. */
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export const done: Partial<Facts> = { end: 'done', endedAt: noon, why: null };
export const held: Partial<Facts> = {
  end: 'held',
  endedAt: noon,
  why: 'no rule matches it',
  lastFailure: { ...failure('permanent'), code: 'no_rule' },
};

export const pause = (more: Partial<Pause> = {}): Pause => ({
  kind: 'offline',
  holds: 'everything',
  why: 'the service does not answer',
  code: 'ECONNREFUSED',
  since: 0,
  probes: 0,
  nextProbeAt: 0,
  ...more,
});

/** @param at is awaited before and after each call */
function watched(
  rows: NewsRows,
  at: (call: keyof NewsRows, moment: 'before' | 'after') => void | Promise<void>,
): NewsRows {
  const calls = Object.entries(rows).map(([name, call]: [string, (...of: unknown[]) => Promise<unknown>]) => {
    const watchedCall = async (...of: unknown[]): Promise<unknown> => {
      await at(name as keyof NewsRows, 'before');
      const result = await call(...of);
      await at(name as keyof NewsRows, 'after');
      return result;
    };
    return [name, watchedCall];
  });
  return Object.fromEntries(calls) as NewsRows;
}
