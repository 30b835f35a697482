import { alikeWithinMs, alikeWords, createAlikeRefusals, isAlikeAtHost, isRefusal } from './alike-refusals.ts';
import type { AlikeRefusals } from './alike-refusals.ts';
import { offlineProbeMs } from './file/backoff.ts';
import type { Events, Pause } from './events.ts';
import type { Facts } from './file/facts.ts';
import { isOfHost, refusedAddressesCode, webPageCode } from './file/failure.ts';
import { accountTroubleOf } from './file/account-trouble.ts';
import type { Failure } from './file/failure.ts';
import type { Answer, Clock, FileStore } from './file/ports.ts';
import type { RowStore } from './file/row-groups.ts';

type Upload = Pick<Facts, 'id' | 'uploadUrl'> & Partial<Pick<Facts, 'lastFailure'>>;

/** The address and state of one PUT. */
type Sent = Upload & Pick<Facts, 'createdAt' | 'uploadStartedAt'>;

/** A period in which a host cannot be used. Times are on the monotonic clock. */
interface Outage {
  readonly failure: Failure;
  readonly since: number;
  tries: number;
  nextTryAt: number;
  trying: string | null;
  isTold: boolean;
  readonly isRefusal: boolean;
  /** Number of new records that have tested the host, and when the next one may. */
  newAddresses: number;
  newAddressAt: number;
  /** Whether a file that could be sent is waiting for the host, as of the loop's last iteration. */
  isWanted: boolean;
}

interface Host {
  outage: Outage | null;
  lastSuccess: { readonly id: string; readonly at: number } | null;
  readonly failedAt: Map<string, number>;
  /** Files whose new address was refused since the host last accepted a file. */
  readonly refused: Set<string>;
  /** Other refusals since then. */
  readonly alike: AlikeRefusals;
  /** Files whose address was refused while the host refused every new one. Their records are kept. */
  readonly spared: Set<string>;
}

/**
 * Number of consecutive failures after which an outage is reported. A single short failure may concern only the file,
 * but a long wait is reported immediately.
 */
const triesUntilTold = 2;
const longWaitMs = 10_000;

/** Interval between two tries of a host that refuses files because of the account, unless it names a time. */
const accountProbeMs = 60 * 60_000;

const mostRemembered = 1_000;

/**
 * Number of rows read per state after a restart, to find hosts that refused every new address. Files of such hosts have
 * waited longest, so the oldest rows are enough.
 */
const mostRecalled = 200;

/** How long an address counts as new after its record was created. */
const newForMs = 60_000;

/**
 * 410 Gone: this address worked once and has expired, even if it is new. Other addresses of the host may still work.
 */
const expiredStatus = 410;

/**
 * Number of files whose new address must be refused before the host counts as refusing all new addresses (design 5.5).
 */
const refusalsOfHost = 2;

/** Interval between two tries if each may send a whole file in vain. */
const costlyProbeMs = 60_000;

/**
 * Longest interval between two new records for a host that refuses every new address. Each record costs about five
 * requests.
 */
const mostNewAddressMs = 15 * 60_000;

/**
 * A circuit breaker for each upload host. While a host is unreachable its files wait, and one of them tests whether the
 * host is back.
 */
export type UploadHosts = ReturnType<typeof createUploadHosts>;

/** @param isBack called when a host has accepted a file again after an outage */
export function createUploadHosts(world: {
  readonly clock: Clock;
  readonly events: Events;
  readonly store: RowStore<'in state' | 'retrying' | 'any'> & Pick<FileStore, 'load'>;
  isBack(): void;
  /** Called with files that have failed by the same refusal, before its repetition showed that they were not to blame. */
  takeBack(ids: readonly string[], failure: Failure): void;
  /** Schedules the next possible try of a host for this time on the monotonic clock. */
  ringAt?: (host: string, at: number) => void;
}) {
  const { clock, events } = world;
  const hosts = new Map<string, Host>();
  /**
   * Origins whose web pages count as success. Kept in memory only, so the first file after a restart is verified again.
   */
  const believed = new Set<string>();
  let lastTaken: string | null = null;

  /**
   * Returns the record of an upload's host. Only hosts where something failed are remembered, because a service may use
   * a different one for each file.
   */
  const hostOf = (upload: Upload): Host => {
    const origin = originOf(upload.uploadUrl);
    const host = hosts.get(origin) ?? newHost(clock);
    hosts.set(origin, host);
    return host;
  };

  const outageOf = ({ uploadUrl }: Upload): Outage | null => hosts.get(originOf(uploadUrl))?.outage ?? null;

  const close = (host: Host): void => {
    if (host.outage?.isTold === true) events.emit({ type: 'resumed', pause: pauseOf(host.outage, clock) });
    host.outage = null;
  };

  const succeeded = ({ id, uploadUrl }: Upload): void => {
    lastTaken = originOf(uploadUrl);
    const host = hosts.get(lastTaken);
    if (host === undefined) return;
    host.lastSuccess = { id, at: clock.elapsed() };
    host.failedAt.delete(id);
    host.refused.clear();
    host.alike.clear();
    host.spared.delete(id);
    if (host.outage === null) return;
    close(host);
    world.isBack();
  };

  /**
   * Whether a failure belongs to the file alone. If the host has accepted another file since this one last failed
   * there, the host is fine.
   */
  const isOfFile = (host: Host, { id }: Upload): boolean => {
    const before = host.failedAt.get(id);
    const { lastSuccess } = host;
    return before !== undefined && lastSuccess !== null && lastSuccess.id !== id && lastSuccess.at >= before;
  };

  const failed = (host: Host, { id, uploadUrl }: Upload, failure: Failure): void => {
    if (host.failedAt.size >= mostRemembered) host.failedAt.clear();
    host.failedAt.set(id, clock.elapsed());
    const { outage } = host;
    // Uploads that were already in progress when the outage began provide no new information.
    if (outage !== null && outage.trying !== id) return;
    const tries = (outage?.tries ?? 0) + 1;
    const isRefusal = failure.code === refusedAddressesCode;
    const isNews = outage?.isRefusal !== isRefusal || (isAlikeAtHost(failure) && !isSame(outage.failure, failure));
    const waitMs = waitAfter(failure, tries);
    const isTold = outage?.isTold === true;
    host.outage = {
      ...(outage ?? newOutage(failure, clock.elapsed())),
      failure: isNews ? failure : outage.failure,
      tries,
      nextTryAt: clock.elapsed() + waitMs,
      trying: null,
      isTold: isTold || tries >= triesUntilTold || waitMs >= longWaitMs,
      isRefusal,
      isWanted: true,
    };
    world.ringAt?.(originOf(uploadUrl), host.outage.nextTryAt);
    if (host.outage.isTold && !isTold) events.emit({ type: 'paused', pause: pauseOf(host.outage, clock) });
  };

  /**
   * Recognises a refusal that repeats for different files, and so is not about them.
   * @returns the failure as classified
   */
  const ofAlike = (upload: Upload, failure: Failure): Failure => {
    if (!isRefusal(failure)) return failure;
    const host = hostOf(upload);
    const ofHost = (message: string): Failure => ({ ...failure, kind: 'offline', message });
    if (isSame(host.outage?.failure, failure)) return ofHost(failure.message);
    const others = host.alike.add(upload.id, failure);
    if (others === null) return failure;
    world.takeBack(others, failure);
    return ofHost(alikeWords(originOf(upload.uploadUrl), failure));
  };

  /** Decides whether a refused address means that the whole host refuses. @returns the failure as classified */
  const ofRefusal = (upload: Sent, failure: Failure, isFirstUse: boolean): Failure => {
    if (failure.kind !== 'address dead') return failure;
    const host = hostOf(upload);
    // The client gave up the address, although the host answered: with a wrong offset, for example.
    if (failure.status === undefined) {
      close(host);
      world.isBack();
      return failure;
    }
    const { outage, refused, spared } = host;
    const { id, createdAt, uploadStartedAt } = upload;
    const usedAfterMs = (uploadStartedAt ?? Infinity) - (createdAt ?? 0);
    const isExpired = failure.status === expiredStatus;
    const isNew = isFirstUse && usedAfterMs >= 0 && usedAfterMs <= newForMs && !isExpired;
    if (isNew) refused.add(id);
    else refused.delete(id);
    const isTheHosts = outage?.isRefusal === true || refused.size >= refusalsOfHost || wasRefused(upload);
    if (!isExpired && isTheHosts) {
      for (const each of [...refused, id]) spared.add(each);
      const message = `${originOf(upload.uploadUrl)} refuses every new upload address: ${failure.message}`;
      return { ...failure, kind: 'offline', code: refusedAddressesCode, message };
    }
    spared.delete(id);
    // This result proves nothing about the host.
    if (outage?.trying === id) outage.nextTryAt = clock.elapsed() + costlyProbeMs;
    return failure;
  };

  /**
   * Whether the row records that the host refused every new address, and the host has accepted no file since. More than
   * one file had shown this before a restart.
   */
  const wasRefused = ({ uploadUrl, lastFailure }: Upload): boolean => {
    const origin = originOf(uploadUrl);
    const hasTaken = lastTaken === origin || (hosts.get(origin)?.lastSuccess ?? null) !== null;
    return lastFailure?.code === refusedAddressesCode && !hasTaken;
  };

  const isOpen = (upload: Upload): boolean => {
    const outage = outageOf(upload);
    if (outage !== null) outage.isWanted = true;
    if (outage === null || outage.trying === upload.id) return true;
    return outage.trying === null && outage.nextTryAt <= clock.elapsed();
  };

  return {
    /** Whether this file may be sent now. An unreachable host gets one file at a time, once its next try is due. */
    isOpen,
    /** Like `isOpen`, for a file that is about to start: the file becomes the one that tests the host. */
    admit: (upload: Upload): boolean => {
      const outage = outageOf(upload);
      const isAdmitted = isOpen(upload);
      if (isAdmitted && outage !== null) outage.trying = upload.id;
      return isAdmitted;
    },
    /**
     * Judges the result of a PUT.
     *
     * @param isFirstUse whether nothing was sent to the address before
     * @returns the answer as classified: a failure of the host costs the file no attempt
     */
    judge: <T>(upload: Sent, answer: Answer<T>, isFirstUse = false): Answer<T> => {
      if (answer.ok) {
        succeeded(upload);
        return answer;
      }
      const isOfAccount = accountTroubleOf(answer.failure) !== null;
      const failure = isOfAccount
        ? ({ ...answer.failure, kind: 'offline' } as const)
        : ofAlike(upload, ofRefusal(upload, answer.failure, isFirstUse));
      if (!isOfHost(failure)) return answer;
      const host = hostOf(upload);
      if (isOfFile(host, upload)) {
        // A smaller file may fit into what is left of the account's storage or quota.
        return isOfAccount ? { ok: false, failure: { ...failure, retryAfterMs: accountWaitMs(failure) } } : answer;
      }
      failed(host, upload, failure);
      // This file may be the one that is testing the host.
      const retryAfterMs = Math.max(1, (host.outage?.nextTryAt ?? 0) - clock.elapsed());
      return { ok: false, failure: { ...failure, kind: 'offline', retryAfterMs } };
    },
    /**
     * Records that a host accepted a file although it answered with a web page. From now on such an answer counts as
     * success for this host.
     */
    believe: (upload: Upload): void => {
      if (believed.size >= mostRemembered) believed.clear();
      believed.add(originOf(upload.uploadUrl));
      succeeded(upload);
    },
    isBelieved: ({ uploadUrl }: Upload): boolean => believed.has(originOf(uploadUrl)),
    /**
     * Whether a file's address was refused only because its host refused every new address. The address may work later.
     */
    isSpared: (upload: Upload): boolean =>
      hosts.get(originOf(upload.uploadUrl))?.spared.has(upload.id) === true || wasRefused(upload),
    /**
     * Whether the file that tests a host that refuses every new address gets a new record for the test, because the
     * host refuses an expired address even once it works again. True at most after 2, 4, 8 and then every 15 minutes,
     * to spare the request budget.
     */
    takesNewAddress: (upload: Upload & Pick<Facts, 'createdAt'>): boolean => {
      const outage = outageOf(upload);
      const ageMs = clock.now() - (upload.createdAt ?? 0);
      const isNew = ageMs >= 0 && ageMs <= newForMs;
      if (outage?.isRefusal !== true || isNew || clock.elapsed() < outage.newAddressAt) return false;
      outage.newAddresses += 1;
      outage.newAddressAt = clock.elapsed() + newAddressMs(outage.newAddresses);
      return true;
    },
    /**
     * Whether new records are worthwhile. False while the only known upload host refuses every new address or every
     * file. True again if no file uses the next try, for example because its folder is paused; a new record then tests the host.
     */
    mayCreate: (): boolean =>
      ![...hosts].some(
        ([origin, { outage }]) =>
          (lastTaken === null || lastTaken === origin) &&
          outage !== null &&
          (outage.isRefusal || accountTroubleOf(outage.failure) !== null || isAlikeAtHost(outage.failure)) &&
          !isOverdue(outage, clock.elapsed()),
      ),
    /**
     * After a restart, lets one file test whether a host still refuses every new address or every file. Otherwise each
     * file that the host has not refused yet would lose an attempt or fail.
     *
     * @throws any error from the ledger
     */
    recall: async (): Promise<void> => {
      const limit = mostRecalled;
      const retrying = await world.store.rows({ group: 'retrying', dueBy: Number.MAX_SAFE_INTEGER, limit });
      const waiting = await world.store.rows({ group: 'in state', state: 'awaiting upload', limit });
      for (const facts of [...retrying, ...waiting]) {
        const { id, uploadUrl, uploadedAt, lastFailure } = facts;
        // A file in another step failed at the service, not at its upload host.
        if (uploadUrl === null || uploadedAt !== null || lastFailure === null) continue;
        if (!wasRefused(facts) && !isAlikeAtHost(lastFailure)) continue;
        const host = hostOf(facts);
        host.failedAt.set(id, clock.elapsed());
        host.outage ??= newOutage(lastFailure, clock.elapsed());
      }
      const since = clock.now() - alikeWithinMs;
      const failed = await world.store.rows({
        group: 'any',
        where: { states: ['failed'], since },
        newestFirst: true,
        limit,
      });
      for (const { id, uploadUrl, lastFailure } of failed)
        if (lastFailure !== null && isRefusal(lastFailure) && isSame(outageOf({ id, uploadUrl })?.failure, lastFailure))
          world.takeBack([id], lastFailure);
    },
    /** Records that the file's step has ended. */
    ended: (id: string): void => {
      for (const { outage } of hosts.values()) if (outage?.trying === id) outage.trying = null;
    },
    /** Makes the next try of every unreachable host due immediately. */
    tryNow: (): void => {
      for (const { outage } of hosts.values()) if (outage !== null) outage.nextTryAt = clock.elapsed();
    },
    /** Returns why uploads are waiting, or null. */
    pause: (): Pause | null => {
      const told = [...hosts.values()].flatMap(({ outage }) => (outage?.isTold === true ? [outage] : []));
      const [first] = told.toSorted((one, other) => one.since - other.since);
      return first === undefined ? null : pauseOf(first, clock);
    },
    /**
     * Forgets hosts that no file is waiting for. Called in every iteration of the loop that fills the lanes.
     *
     * @returns number of hosts still known @throws any error from the ledger
     */
    tidy: async (): Promise<number> => {
      for (const [origin, host] of hosts) {
        const { outage, failedAt } = host;
        if (outage !== null && !(await isNeeded(origin, host, outage)) && host.outage === outage) {
          close(host);
          failedAt.clear();
        }
        const isKept = failedAt.size + host.refused.size + host.spared.size > 0 || !host.alike.isEmpty();
        if (host.outage === null && (!isKept || hosts.size > mostRemembered)) hosts.delete(origin);
      }
      return hosts.size;
    },
  };

  /**
   * Whether a file is still waiting for an unreachable host. Files that failed there and are waiting for their next try
   * are in no lane.
   */
  async function isNeeded(origin: string, { failedAt }: Host, outage: Outage): Promise<boolean> {
    const { isWanted } = outage;
    outage.isWanted = false;
    if (isWanted || outage.trying !== null) return true;
    for (const id of failedAt.keys()) {
      const facts = await world.store.load(id);
      const isWaiting = facts !== null && facts.end === null && facts.uploadedAt === null;
      if (isWaiting && originOf(facts.uploadUrl) === origin) return true;
      failedAt.delete(id);
    }
    return false;
  }
}

/** Returns how long a host is left alone after a failed try. @param tries number of failed ones, from 1 */
function waitAfter(failure: Failure, tries: number): number {
  const { code, retryAfterMs = 0 } = failure;
  if (accountTroubleOf(failure) !== null) return accountWaitMs(failure);
  if (isAlikeAtHost(failure)) return Math.max(retryAfterMs, Math.min(accountProbeMs, costlyProbeMs * 2 ** (tries - 1)));
  const isCostly = code === refusedAddressesCode || code === webPageCode;
  return Math.max(retryAfterMs, isCostly ? costlyProbeMs : offlineProbeMs(tries - 1));
}

/** Returns how long a host that refuses files because of the account is left alone, in milliseconds. */
function accountWaitMs({ retryAfterMs = accountProbeMs }: Failure): number {
  return Math.min(Math.max(retryAfterMs, costlyProbeMs), 24 * accountProbeMs);
}

function isSame(one: Failure | undefined, { code, status }: Failure): boolean {
  return one?.code === code && one.status === status;
}

function newHost(clock: Clock): Host {
  const alike = createAlikeRefusals(clock);
  return { outage: null, lastSuccess: null, failedAt: new Map(), refused: new Set(), alike, spared: new Set() };
}

/** Whether the next try has been due for a minute without a file using it. */
function isOverdue({ trying, nextTryAt }: Outage, now: number): boolean {
  return trying === null && now - nextTryAt > costlyProbeMs;
}

/** Returns a new outage without any tries, so that the next try is due immediately. */
function newOutage(failure: Failure, now: number): Outage {
  return {
    failure,
    since: now,
    tries: 0,
    nextTryAt: now,
    trying: null,
    isTold: false,
    isRefusal: failure.code === refusedAddressesCode,
    newAddresses: 0,
    newAddressAt: now + newAddressMs(0),
    isWanted: true,
  };
}

/** @param before number of new records that have tested the host @returns milliseconds until the next one */
function newAddressMs(before: number): number {
  return Math.min(mostNewAddressMs, 2 * costlyProbeMs * 2 ** before);
}

function originOf(address: string | null): string {
  return address !== null && URL.canParse(address) ? new URL(address).origin : '';
}

function pauseOf({ failure, since, tries, nextTryAt }: Outage, clock: Clock): Pause {
  const offset = clock.now() - clock.elapsed();
  const { message: why, code } = failure;
  const times = { since: since + offset, probes: tries - 1, nextProbeAt: nextTryAt + offset };
  return { kind: 'offline', holds: 'uploads', why, code, ...times };
}
