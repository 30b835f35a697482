import { believed } from './ages.ts';
import { alikeWithinMs, alikeWords, createAlikeRefusals, isRefusal } from './alike-refusals.ts';
import type { Events, Pause } from './events.ts';
import { accountTroubleOf } from './file/account-trouble.ts';
import type { AccountTrouble } from './file/account-trouble.ts';
import type { Facts } from './file/facts.ts';
import { createsRefusedCode } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import { alwaysOurs } from './file/ports.ts';
import type { Clock, CreatedStore, Turn } from './file/ports.ts';
import type { RowStore } from './file/row-groups.ts';

type RefusedStore = RowStore<'retrying' | 'any'> & CreatedStore;

type File = Pick<Facts, 'id' | 'plan' | 'lastFailure'>;

/** A period in which the service refuses new videos. Times are on the monotonic clock unless they say otherwise. */
interface Stop {
  readonly failure: Failure & { readonly account: NonNullable<Failure['account']> };
  /** The channel that is refused; undefined for the whole account. */
  readonly channel: string | undefined;
  /** Whether the service said so by a known code. Otherwise repeated refusals suggest it. */
  readonly isKnown: boolean;
  /** Number of refused tries, from 1. */
  tries: number;
  nextTryAt: number;
  /** The file whose create request tests whether the service accepts new videos again. */
  trying: string | null;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Waits where the service names no time: after a known code, and the first one after any other code. */
const knownMs = hourMs;
const guessedMs = 5 * minuteMs;

/** Bounds on the wait that a service may ask for. During a longer one, dropcast tries once a day. */
const askedMs = { least: minuteMs, most: 24 * hourMs };

/**
 * How much later than other files one that was refused before may be the try. Otherwise a file that is refused for a
 * reason of its own could keep all others waiting.
 */
const leavesTryMs = minuteMs;

/** How long a due try is unused before it is clear that no file waits for it. */
const unusedMs = 10 * minuteMs;

const mostRemembered = 1_000;

/** Number of rows read after a restart. Files that were refused have waited longest, so the oldest rows are enough. */
const mostRecalled = 200;

/**
 * The circuit breaker of create requests. A service that refuses every new video because of the account, such as a
 * spent quota, still processes and publishes what it has, so only new files wait. The next try is a real create
 * request, because no harmless request shows whether the service accepts a video.
 */
export type RefusedCreates = ReturnType<typeof createRefusedCreates>;

/**
 * @param world.isBack called when files that waited may start
 * @param world.takeBack called with files that have failed by the same refusal, before its repetition showed that they
 *   were not to blame
 */
export function createRefusedCreates(world: {
  readonly clock: Clock;
  readonly events: Events;
  readonly store: RefusedStore;
  readonly turn: Turn;
  isBack(): void;
  takeBack(ids: readonly string[], failure: Failure): void;
  ringAt(at: number): void;
}) {
  const { clock, events } = world;
  /** Keyed by channel; '' for the whole account. */
  const stops = new Map<string, Stop>();
  const refusedAt = new Map<string, number>();
  /** Files refused since the service last created a record. */
  const refusedSince = new Set<string>();
  const alike = createAlikeRefusals(clock);
  let lastSuccess: { readonly id: string; readonly at: number } | null = null;

  const stopsOf = ({ plan }: Pick<File, 'plan'>): readonly Stop[] =>
    ['', plan?.channel ?? ''].flatMap((key, n, keys) => (keys.indexOf(key) === n ? (stops.get(key) ?? []) : []));

  const isDue = ({ trying, nextTryAt }: Stop, lateMs = 0): boolean => {
    // In a fleet, the host with the turn tries first, so that one request is enough.
    const laterMs = world.turn.signal() === null ? minuteMs : 0;
    return trying === null && clock.elapsed() >= nextTryAt + lateMs + laterMs;
  };

  const close = (stop: Stop): void => {
    stops.delete(stop.channel ?? '');
    events.emit({ type: 'resumed', pause: pauseOf(stop, clock) });
    world.isBack();
  };

  const open = (key: string, stop: Stop): void => {
    const isNew = !stops.has(key);
    stops.set(key, stop);
    world.ringAt(stop.nextTryAt);
    if (isNew) events.emit({ type: 'paused', pause: pauseOf(stop, clock) });
  };

  const waitMs = ({ retryAfterMs }: Failure, isKnown: boolean, tries: number): number => {
    if (retryAfterMs !== undefined) return Math.min(askedMs.most, Math.max(askedMs.least, retryAfterMs));
    return isKnown ? knownMs : Math.min(knownMs, guessedMs * 2 ** Math.min(tries - 1, 10));
  };

  /**
   * Whether a refusal may concern the file alone: the service has created a record for another file since this one was
   * last refused.
   */
  const mayBeOfFile = (file: File): boolean => {
    const before = refusedAt.get(file.id) ?? (isOfAccount(file) ? -Infinity : undefined);
    return before !== undefined && lastSuccess !== null && lastSuccess.id !== file.id && lastSuccess.at >= before;
  };

  const note = (id: string): void => {
    if (refusedAt.size >= mostRemembered) refusedAt.clear();
    if (refusedSince.size >= mostRemembered) refusedSince.clear();
    refusedAt.set(id, clock.elapsed());
    refusedSince.add(id);
  };

  /** Makes all new files of the account or channel wait. @returns the failure of this file, which costs no attempt */
  const refuse = (file: File, failure: Failure, trouble: AccountTrouble, isKnown: boolean): Failure => {
    const channel = trouble === 'channel' ? file.plan?.channel : undefined;
    const key = channel ?? '';
    const before = stops.get(key);
    const isLone = before === undefined && refusedSince.size === 0 && mayBeOfFile(file);
    note(file.id);
    // Requests that were under way when the first was refused provide no new information.
    if (before !== undefined && before.trying !== file.id) return waitFor(before, before.failure);
    const tries = (before?.tries ?? 0) + 1;
    const account = before?.failure.account ?? {
      trouble,
      since: clock.now(),
      ...(channel !== undefined && { channel }),
    };
    const nextTryAt = clock.elapsed() + waitMs(failure, isKnown, tries);
    const { code, status } = failure;
    const message = before !== undefined && !isKnown ? before.failure.message : failure.message;
    const stopped = { kind: 'suspended', code, message, account, ...(status !== undefined && { status }) } as const;
    const stop: Stop = { failure: stopped, channel, isKnown, tries, nextTryAt, trying: null };
    // Smaller files may still fit within a byte quota, so only this file waits unless another is refused too.
    if (!isLone) open(key, stop);
    return waitFor(stop, stopped);
  };

  /** Returns the failure of a file that waits until the next try is due. */
  const waitFor = ({ nextTryAt }: Stop, failure: Failure): Failure => ({
    ...failure,
    retryAfterMs: Math.max(5_000, nextTryAt - clock.elapsed()),
  });

  /** Whether new files are waiting because of this very refusal. */
  const isStillRefused = ({ status, code }: Failure): boolean => {
    const { failure } = stops.get('') ?? {};
    return failure?.code === code && failure.status === status;
  };

  const heard = (facts: Facts): void => {
    const { lastFailure, notBefore, createdAt, plan } = facts;
    const { account } = lastFailure ?? {};
    if (account !== undefined && lastFailure !== null && notBefore !== null) {
      const leftMs = believed(notBefore, clock.now(), askedMs.most) - clock.now();
      const key = account.channel ?? '';
      const before = stops.get(key);
      const nextTryAt = clock.elapsed() + Math.max(0, leftMs);
      if (before !== undefined) before.nextTryAt = Math.max(before.nextTryAt, nextTryAt);
      else {
        const failure = { ...lastFailure, code: lastFailure.because ?? lastFailure.code, account };
        const isKnown = accountTroubleOf(failure) !== null;
        open(key, { failure, channel: account.channel, isKnown, tries: 1, nextTryAt, trying: null });
      }
    } else if (createdAt !== null && lastFailure === null)
      for (const stop of stopsOf({ plan })) if (createdAt > stop.failure.account.since) close(stop);
  };

  /** Returns the refused files that have failed since the service last created a record, oldest first. */
  const failedRecently = async () => {
    const { store } = world;
    const now = clock.now();
    const since = now - alikeWithinMs;
    const rows = await store.rows({
      group: 'any',
      where: { states: ['failed'], since },
      newestFirst: true,
      limit: mostRecalled,
    });
    const found: { readonly id: string; readonly failure: Failure; readonly agoMs: number }[] = [];
    for (const { id, videoId, lastFailure, endedAt } of rows) {
      const at = believed(endedAt ?? 0, now);
      if (videoId !== null || lastFailure === null || !isRefusal(lastFailure) || at < since) continue;
      if ((await store.createdSince(at)).videos > 0) continue;
      found.push({ id, failure: lastFailure, agoMs: now - at });
    }
    return found.toReversed();
  };

  return {
    /** Whether a new file may start now. While the service refuses new videos, only a due try may. */
    mayCreate: (): boolean => {
      const stop = stops.get('');
      return stop === undefined || isDue(stop);
    },
    /** Whether a file may start that must not take the due try from a waiting one. */
    isUnhindered: (): boolean => {
      const stop = stops.get('');
      return stop === undefined || isDue(stop, unusedMs);
    },
    /**
     * Returns why a file may send no create request; null if it may. While the service refuses new videos, the file
     * becomes the one that tests it.
     */
    admit: (file: File): Failure | null => {
      for (const stop of stopsOf(file)) {
        if (stop.trying === file.id) continue;
        const wasRefused = refusedAt.has(file.id) || isOfAccount(file);
        if (!isDue(stop, wasRefused ? leavesTryMs : 0)) {
          const { code } = stop.failure;
          const at = isDue(stop) ? stop.nextTryAt + leavesTryMs : stop.nextTryAt;
          return waitFor({ ...stop, nextTryAt: at }, { ...stop.failure, code: createsRefusedCode, because: code });
        }
        stop.trying = file.id;
      }
      return null;
    },
    succeeded: (file: File): void => {
      lastSuccess = { id: file.id, at: clock.elapsed() };
      refusedAt.delete(file.id);
      refusedSince.clear();
      alike.clear();
      // A request that left before the first refusal proves nothing.
      for (const stop of stopsOf(file)) if (stop.trying === file.id) close(stop);
    },
    /**
     * Judges a refused create request.
     *
     * @param answers finds out whether the service still answers other requests of this account
     * @returns the failure if the refusal concerns the account; null if it concerns the file or the whole service
     */
    judge: async (file: File, failure: Failure, answers: () => Promise<boolean>): Promise<Failure | null> => {
      const trouble = accountTroubleOf(failure);
      if (trouble !== null) return refuse(file, failure, trouble, true);
      if (!isRefusal(failure)) return null;
      const isAlone = failure.kind === 'suspended';
      if (isAlone && !isStillRefused(failure) && !(await answers())) return null;
      if (mayBeOfFile(file)) return isAlone ? { ...failure, kind: 'permanent' } : null;
      if (isAlone || isStillRefused(failure)) return refuse(file, failure, 'account', false);
      const others = alike.add(file.id, failure);
      note(file.id);
      if (others === null) return null;
      world.takeBack(others, failure);
      return refuse(file, { ...failure, message: alikeWords('the service', failure) }, 'account', false);
    },
    /** Records that the file's step has ended. */
    ended: (id: string): void => {
      for (const stop of stops.values()) if (stop.trying === id) stop.trying = null;
    },
    /** Makes the next try due immediately, also for a file that was refused before. */
    tryNow: (): void => {
      for (const stop of stops.values()) stop.nextTryAt = clock.elapsed() - leavesTryMs - minuteMs;
    },
    /** After a restart, reads from the ledger what the service has refused. @throws any error from the ledger */
    recall: async (): Promise<void> => {
      const rows = await world.store.rows({ group: 'retrying', dueBy: Number.MAX_SAFE_INTEGER, limit: mostRecalled });
      for (const facts of rows) if (facts.lastFailure?.account !== undefined) heard(facts);
      for (const { id, failure, agoMs } of await failedRecently())
        if (isStillRefused(failure)) world.takeBack([id], failure);
        else alike.add(id, failure, agoMs);
    },
    /** Learns from a row that another host has written. */
    heard,
    /** Returns why new files are waiting, the whole account first. */
    pauses: (): readonly Pause[] =>
      [...stops.values()]
        .toSorted((a, b) => Number(a.channel !== undefined) - Number(b.channel !== undefined))
        .map((stop) => pauseOf(stop, clock)),
  };
}

/**
 * Returns why the service refuses new videos, as a pipeline that starts now would find it in the ledger.
 *
 * @throws any error from the ledger
 */
export async function createsPausesIn(store: RefusedStore, clock: Clock): Promise<readonly Pause[]> {
  const nothing = (): void => undefined;
  const events = { emit: nothing };
  const known = createRefusedCreates({
    store,
    clock,
    events,
    turn: alwaysOurs,
    isBack: nothing,
    takeBack: nothing,
    ringAt: nothing,
  });
  await known.recall();
  return known.pauses();
}

/** Whether the row of a file says that the service itself refused its last create request. */
function isOfAccount({ lastFailure }: Pick<File, 'lastFailure'>): boolean {
  return lastFailure?.account !== undefined && lastFailure.code !== createsRefusedCode;
}

function pauseOf({ failure, channel, tries, nextTryAt }: Stop, clock: Clock): Pause {
  const { message: why, code, account } = failure;
  const nextProbeAt = Math.round(nextTryAt - clock.elapsed() + clock.now());
  const about = { kind: 'suspended', holds: 'new files', why, code, trouble: account.trouble } as const;
  return { ...about, since: account.since, probes: tries - 1, nextProbeAt, ...(channel !== undefined && { channel }) };
}
