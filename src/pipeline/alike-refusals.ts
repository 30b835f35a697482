import { accountTroubleOf } from './file/account-trouble.ts';
import { isOfHost, refusedAddressesCode } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Clock } from './file/ports.ts';

/**
 * Number of different files that must be refused alike, and within which time, to suggest that the cause lies outside
 * of them.
 */
const alike = 3;
export const alikeWithinMs = 60 * 60_000;

const mostRemembered = 1_000;

/**
 * Statuses that say nothing about an account or a host: about the key (401), a name (404, 410), another request (409),
 * or the content of this one (413, 414, 415, 422; RFC 9110 section 15.5). A rule may make the content of many requests
 * wrong.
 */
const ofRequest: ReadonlySet<number> = new Set([401, 404, 409, 410, 413, 414, 415, 422]);

/** Codes with which services say the same with status 400. */
const ofContent =
  /invalid|validation|malformed|bad_?request|missing|required|unsupported|too_?(?:large|long|big)|digest|checksum|content|title|description|tag/i;

/** Whether a refusal may have a cause outside of its file. */
export function isRefusal({ kind, status = 0, code, sizeLimit }: Failure): boolean {
  if (status < 400 || status >= 500 || ofRequest.has(status) || sizeLimit !== undefined) return false;
  return (kind === 'permanent' && !ofContent.test(code)) || kind === 'suspended';
}

/** Counts refusals of different files with the same status and code. Anything that was accepted starts anew. */
export type AlikeRefusals = ReturnType<typeof createAlikeRefusals>;

export function createAlikeRefusals(clock: Pick<Clock, 'elapsed'>) {
  const groups = new Map<string, Map<string, number>>();
  return {
    /**
     * @param agoMs how long ago the file was refused
     * @returns the other files, if there are enough to suggest a cause outside of them
     */
    add: (id: string, { status, code }: Failure, agoMs = 0): readonly string[] | null => {
      const key = `${status} ${code}`;
      if (groups.size >= mostRemembered) groups.clear();
      const group = new Map(
        [...(groups.get(key) ?? [])].filter(([, at]) => clock.elapsed() - at < alikeWithinMs).slice(1 - alike),
      );
      groups.set(key, group.set(id, clock.elapsed() - agoMs));
      return group.size < alike ? null : [...group.keys()].filter((other) => other !== id);
    },
    clear: (): void => groups.clear(),
    isEmpty: (): boolean => groups.size === 0,
  };
}

/** @param who refused the files */
export function alikeWords(who: string, { message }: Failure): string {
  return `${who} refused ${alike} different files alike: ${message}`;
}

/**
 * Whether a file's last failure was such a refusal by an upload host, so that the file waits for the host. Only an
 * outage makes a refusal `offline`; other kinds of outage have codes and statuses of their own.
 */
export function isAlikeAtHost(failure: Failure): boolean {
  const { kind, status = 0, code } = failure;
  const isOther = code === refusedAddressesCode || accountTroubleOf(failure) !== null;
  return (
    kind === 'offline' && status >= 400 && status < 500 && !isOther && !isOfHost({ ...failure, kind: 'transient' })
  );
}
