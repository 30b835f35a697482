import { offlineProbeMs } from './file/backoff.ts';
import type { Events, Pause } from './events.ts';
import type { Facts } from './file/facts.ts';
import { isOfHost } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Answer, Clock } from './file/ports.ts';

type Upload = Pick<Facts, 'id' | 'uploadUrl'>;

/** A circuit breaker for each host that takes uploads: while one is away its files wait, and one of them finds out whether it is back. */
export interface UploadHosts {
  /** Whether this file may be sent now. Where a host is away, one file at a time may, once its next try is due. */
  isOpen(upload: Upload): boolean;
  /** The same for a file that is sent at once: it finds out for the others. */
  admit(upload: Upload): boolean;
  /** What became of a PUT. @returns the answer as it counts: a failure of the host costs the file no attempt */
  judge<T>(upload: Upload, answer: Answer<T>): Answer<T>;
  /** Nobody works on the file any more. */
  ended(id: string): void;
  /** The next try at each host that is away is due at once. */
  tryNow(): void;
  /** Why uploads wait, or null. */
  pause(): Pause | null;
  /** Forgets what no file waits for any more. Called at every turn of the loop that fills the lanes. @returns hosts still known */
  tidy(): number;
}

/** Times are those of the monotonic clock. */
interface Outage {
  readonly failure: Failure;
  readonly since: number;
  /** Tries in a row that failed. */
  tries: number;
  nextTryAt: number;
  /** The file that finds out. */
  trying: string | null;
  isTold: boolean;
}

interface Host {
  outage: Outage | null;
  lastSuccess: { readonly id: string; readonly at: number } | null;
  /** When a file failed there last. */
  readonly failedAt: Map<string, number>;
}

/** One short failure may be a file's: people are told of the second in a row, and of a long wait at once. */
const triesUntilTold = 2;
const longWaitMs = 10_000;

const mostRemembered = 1_000;

/** How long a try may be due that no file makes: they were deleted, or the service had their bytes all along. */
const unwantedMs = 60_000;

/** @param isBack called when a host that was away has taken a file */
export function createUploadHosts(world: {
  readonly clock: Clock;
  readonly events: Events;
  isBack(): void;
  /** A host may be tried again at this time of the monotonic clock. */
  ringAt?: (host: string, at: number) => void;
}): UploadHosts {
  const { clock, events } = world;
  const hosts = new Map<string, Host>();

  /** Only hosts where something failed are remembered: a service may have one for each file. */
  const hostOf = (upload: Upload): Host => {
    const origin = originOf(upload.uploadUrl);
    const host = hosts.get(origin) ?? { outage: null, lastSuccess: null, failedAt: new Map<string, number>() };
    hosts.set(origin, host);
    return host;
  };

  const outageOf = ({ uploadUrl }: Upload): Outage | null => hosts.get(originOf(uploadUrl))?.outage ?? null;

  const close = (host: Host): void => {
    if (host.outage?.isTold === true) events.emit({ type: 'resumed', pause: pauseOf(host.outage, clock) });
    host.outage = null;
  };

  const succeeded = ({ id, uploadUrl }: Upload): void => {
    const host = hosts.get(originOf(uploadUrl));
    if (host === undefined) return;
    host.lastSuccess = { id, at: clock.elapsed() };
    host.failedAt.delete(id);
    if (host.outage === null) return;
    close(host);
    world.isBack();
  };

  /** The file's own only if the host took another one since the file last failed there: then it is not the host that is away. */
  const isOfFile = (host: Host, { id }: Upload): boolean => {
    const before = host.failedAt.get(id);
    const { lastSuccess } = host;
    return before !== undefined && lastSuccess !== null && lastSuccess.id !== id && lastSuccess.at >= before;
  };

  const failed = (host: Host, { id, uploadUrl }: Upload, failure: Failure): void => {
    if (host.failedAt.size >= mostRemembered) host.failedAt.clear();
    host.failedAt.set(id, clock.elapsed());
    const { outage } = host;
    // Others that were under way when it began say nothing new.
    if (outage !== null && outage.trying !== id) return;
    const tries = (outage?.tries ?? 0) + 1;
    const waitMs = Math.max(failure.retryAfterMs ?? 0, offlineProbeMs(tries - 1));
    const isTold = outage?.isTold === true;
    host.outage = {
      failure: outage?.failure ?? failure,
      since: outage?.since ?? clock.elapsed(),
      tries,
      nextTryAt: clock.elapsed() + waitMs,
      trying: null,
      isTold: isTold || tries >= triesUntilTold || waitMs >= longWaitMs,
    };
    world.ringAt?.(originOf(uploadUrl), host.outage.nextTryAt);
    if (host.outage.isTold && !isTold) events.emit({ type: 'paused', pause: pauseOf(host.outage, clock) });
  };

  const isOpen = (upload: Upload): boolean => {
    const outage = outageOf(upload);
    if (outage === null || outage.trying === upload.id) return true;
    return outage.trying === null && outage.nextTryAt <= clock.elapsed();
  };

  return {
    isOpen,
    admit: (upload) => {
      const outage = outageOf(upload);
      const isAdmitted = isOpen(upload);
      if (isAdmitted && outage !== null) outage.trying = upload.id;
      return isAdmitted;
    },
    judge: (upload, answer) => {
      if (answer.ok) succeeded(upload);
      if (answer.ok || !isOfHost(answer.failure)) return answer;
      const host = hostOf(upload);
      if (isOfFile(host, upload)) return answer;
      failed(host, upload, answer.failure);
      // It may be the one that finds out.
      const retryAfterMs = Math.max(1, (host.outage?.nextTryAt ?? 0) - clock.elapsed());
      return { ok: false, failure: { ...answer.failure, kind: 'offline', retryAfterMs } };
    },
    ended: (id) => {
      for (const { outage } of hosts.values()) if (outage?.trying === id) outage.trying = null;
    },
    tryNow: () => {
      for (const { outage } of hosts.values()) if (outage !== null) outage.nextTryAt = clock.elapsed();
    },
    pause: () => {
      const told = [...hosts.values()].flatMap(({ outage }) => (outage?.isTold === true ? [outage] : []));
      const [first] = told.toSorted((one, other) => one.since - other.since);
      return first === undefined ? null : pauseOf(first, clock);
    },
    tidy: () => {
      for (const [origin, host] of hosts) {
        const { outage, failedAt } = host;
        if (outage !== null && outage.trying === null && outage.nextTryAt + unwantedMs < clock.elapsed()) {
          close(host);
          failedAt.clear();
        }
        if (host.outage === null && (failedAt.size === 0 || hosts.size > mostRemembered)) hosts.delete(origin);
      }
      return hosts.size;
    },
  };
}

function originOf(address: string | null): string {
  return address !== null && URL.canParse(address) ? new URL(address).origin : '';
}

function pauseOf({ failure, since, tries, nextTryAt }: Outage, clock: Clock): Pause {
  const offset = clock.now() - clock.elapsed();
  const { message, code } = failure;
  const why = `uploads wait: ${message}`;
  const times = { since: since + offset, probes: tries - 1, nextProbeAt: nextTryAt + offset };
  return { kind: 'offline', holds: 'uploads', why, code, ...times };
}
