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
  admit(upload: Upload): boolean;
  /** What became of a PUT. @returns the answer as it counts: a failure of the host costs the file no attempt */
  judge<T>(upload: Upload, answer: Answer<T>): Answer<T>;
  /** Nobody works on the file any more. */
  ended(id: string): void;
  /** The next try at each host that is away is due at once. */
  tryNow(): void;
  /** Why uploads wait, or null. */
  pause(): Pause | null;
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
}

interface Host {
  outage: Outage | null;
  lastSuccess: { readonly id: string; readonly at: number } | null;
  /** When a file failed there last. */
  readonly failedAt: Map<string, number>;
}

/** One failure may be a file's: from the second in a row on people are told. */
const triesUntilKnown = 2;
const mostRemembered = 1_000;

/** @param isBack called when a host that was away has taken a file */
export function createUploadHosts(world: {
  readonly clock: Clock;
  readonly events: Events;
  isBack(): void;
}): UploadHosts {
  const { clock, events } = world;
  const hosts = new Map<string, Host>();

  const hostOf = ({ uploadUrl }: Upload): Host => {
    const origin = originOf(uploadUrl);
    const host = hosts.get(origin) ?? { outage: null, lastSuccess: null, failedAt: new Map<string, number>() };
    hosts.set(origin, host);
    return host;
  };

  const succeeded = (host: Host, { id }: Upload): void => {
    const { outage } = host;
    host.lastSuccess = { id, at: clock.elapsed() };
    host.failedAt.delete(id);
    host.outage = null;
    if (outage === null) return;
    if (outage.tries >= triesUntilKnown) events.emit({ type: 'resumed', pause: pauseOf(outage, clock) });
    world.isBack();
  };

  /** The file's own only if the host took another one since the file last failed there: then it is not the host that is away. */
  const isOfFile = (host: Host, { id }: Upload): boolean => {
    const before = host.failedAt.get(id);
    const { lastSuccess } = host;
    return before !== undefined && lastSuccess !== null && lastSuccess.id !== id && lastSuccess.at >= before;
  };

  const failed = (host: Host, { id }: Upload, failure: Failure): void => {
    if (host.failedAt.size >= mostRemembered) host.failedAt.clear();
    host.failedAt.set(id, clock.elapsed());
    const { outage } = host;
    // Others that were under way when it began say nothing new.
    if (outage !== null && outage.trying !== id) return;
    const tries = (outage?.tries ?? 0) + 1;
    const waitMs = Math.max(failure.retryAfterMs ?? 0, offlineProbeMs(tries - 1));
    const nextTryAt = clock.elapsed() + waitMs;
    host.outage = {
      failure: outage?.failure ?? failure,
      since: outage?.since ?? clock.elapsed(),
      tries,
      nextTryAt,
      trying: null,
    };
    if (tries === triesUntilKnown) events.emit({ type: 'paused', pause: pauseOf(host.outage, clock) });
  };

  return {
    admit: (upload) => {
      const { outage } = hostOf(upload);
      if (outage === null) return true;
      if (outage.trying !== null || outage.nextTryAt > clock.elapsed()) return false;
      outage.trying = upload.id;
      return true;
    },
    judge: (upload, answer) => {
      const host = hostOf(upload);
      if (answer.ok) succeeded(host, upload);
      else if (isOfHost(answer.failure) && !isOfFile(host, upload)) {
        failed(host, upload, answer.failure);
        // It may be the one that finds out.
        const retryAfterMs = Math.max(1, (host.outage?.nextTryAt ?? 0) - clock.elapsed());
        return { ok: false, failure: { ...answer.failure, kind: 'offline', retryAfterMs } };
      }
      return answer;
    },
    ended: (id) => {
      for (const { outage } of hosts.values()) if (outage?.trying === id) outage.trying = null;
    },
    tryNow: () => {
      for (const { outage } of hosts.values()) if (outage !== null) outage.nextTryAt = clock.elapsed();
    },
    pause: () => {
      const known = [...hosts.values()].flatMap(({ outage }) =>
        outage !== null && outage.tries >= triesUntilKnown ? [outage] : [],
      );
      const [first] = known.toSorted((one, other) => one.since - other.since);
      return first === undefined ? null : pauseOf(first, clock);
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
  return { kind: 'offline', why, code, since: since + offset, probes: tries - 1, nextProbeAt: nextTryAt + offset };
}
