import type { IncomingHttpHeaders } from 'node:http';
import { parseHttpDate } from './retry-after.ts';
import { membersOf } from './structured-field.ts';
import type { Member } from './structured-field.ts';

/** A limit of the service, as a response reports it. */
export interface RateLimit {
  /** Identifies the limit across responses. Made of numbers and fixed words, never of text from the response. */
  readonly name: string;
  /** Requests that the service still accepts before the reset, as of this response; 0 or more. */
  readonly remaining: number;
  /** Time until the reset, in milliseconds, 1 to 3,600,000. A reset after more than an hour counts as an hour. */
  readonly resetMs: number;
  /**
   * Whether the response names only the policy. `remaining` then belongs to a window that starts with this response.
   */
  readonly isPolicyOnly: boolean;
}

/** The limits in the headers of one response. */
export interface RateLimits {
  readonly limits: readonly RateLimit[];
  /** Headers that were ignored, each with the reason: `X-RateLimit-Reset: in the past`. A finite set of texts. */
  readonly ignored: readonly string[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Assumed time until a reset that no header states; the same as after a 429 without `Retry-After`. */
const unstatedResetMs = 60_000;
/** A reset this long ago is a rounding error, because dates and most resets are whole seconds. */
const roundingMs = 5000;

/**
 * Reads the limits that a response reports. Pure.
 *
 * - `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11 sections 3 and 4; in draft 7
 *   `RateLimit` is a dictionary)
 * - `RateLimit-Limit`, `-Remaining` and `-Reset` (draft 6), in seconds
 * - `X-RateLimit-…` and `X-Rate-Limit-…`, which have no specification: the reset is in seconds, milliseconds, epoch
 *   seconds or epoch milliseconds, or an ISO or HTTP date; `-Window` is in milliseconds
 *
 * Times of day are relative to the response's own `Date`, so the two clocks need not agree.
 *
 * @param nowMs wall clock, epoch milliseconds; replaces a missing or invalid `Date`
 */
export function rateLimitsOf(headers: IncomingHttpHeaders, nowMs: number): RateLimits {
  const reader = new Reader(headers, nowMs);
  const limits = [
    ...reader.draft(),
    ...reader.family('RateLimit', { isInSeconds: true }),
    ...reader.family('X-RateLimit', { isInSeconds: false }),
    ...reader.family('X-Rate-Limit', { isInSeconds: false }),
  ];
  return { limits: strictest(limits), ignored: [...reader.ignored] };
}

/** A policy of `RateLimit-Policy`. */
interface Policy {
  readonly quota: number;
  readonly windowMs: number | undefined;
  /** False if the quota is one of bytes or connections. */
  readonly isOfRequests: boolean;
}

class Reader {
  readonly #headers: IncomingHttpHeaders;
  readonly #nowMs: number;
  readonly ignored = new Set<string>();

  constructor(headers: IncomingHttpHeaders, nowMs: number) {
    this.#headers = headers;
    this.#nowMs = parseHttpDate(headers.date) ?? nowMs;
  }

  draft(): readonly RateLimit[] {
    const policies = this.#policies();
    const members = this.#members('RateLimit');
    const isDictionary = members.some(({ name, value }) => name === 'remaining' && value !== '');
    const items = isDictionary ? [itemOf(members)] : members;
    const named = new Set(items.map(({ name }) => name));
    return [
      ...items.flatMap((item, index) => this.#item(item, policies.get(item.name), index)),
      ...[...policies].flatMap(([name, policy]) => (named.has(name) ? [] : windowOf(policy))),
    ];
  }

  /** Reads three headers that share a prefix. @param isInSeconds whether every number is one of seconds */
  family(prefix: string, { isInSeconds }: { readonly isInSeconds: boolean }): readonly RateLimit[] {
    const stated = this.#text(`${prefix}-Remaining`);
    if (stated === undefined) return [];
    const remaining = integerOf(stated);
    if (remaining === undefined) return this.#ignore(`${prefix}-Remaining`, 'not a whole number');
    const [window, reset] = [this.#text(`${prefix}-Window`), this.#text(`${prefix}-Reset`)];
    const windowMs = window === undefined ? unstatedResetMs : decimalOf(window);
    const quota = integerOf(this.#text(`${prefix}-Limit`)?.split(/[,;]/, 1)[0]) ?? '?';
    const limit = { name: `${prefix} ${quota}`, remaining };
    if (reset === undefined) return this.#limit(`${prefix}-Window`, limit, windowMs);
    const longestMs = isInSeconds ? Infinity : window === undefined ? hourMs : (windowMs ?? hourMs);
    return this.#limit(`${prefix}-Reset`, limit, untilReset(reset, { longestMs, nowMs: this.#nowMs }));
  }

  #policies(): ReadonlyMap<string, Policy> {
    const policies = new Map<string, Policy>();
    for (const { name, parameters } of this.#members('RateLimit-Policy')) {
      // In draft 7 the item itself is the quota: `100;w=60`.
      const quota = integerOf(parameters.get('q') ?? name);
      const isOfRequests = (parameters.get('qu') ?? 'requests') === 'requests';
      if (quota === undefined) this.#ignore('RateLimit-Policy', 'without a quota');
      else policies.set(name, { quota, windowMs: secondsOf(parameters.get('w')), isOfRequests });
    }
    return policies;
  }

  #item({ parameters }: Member, policy: Policy | undefined, index: number): readonly RateLimit[] {
    if (policy?.isOfRequests === false) return [];
    const remaining = integerOf(parameters.get('r'));
    if (remaining === undefined) return this.#ignore('RateLimit', 'without a number of remaining requests');
    const name = policy === undefined ? `RateLimit ${index}` : nameOf(policy);
    const stated = parameters.get('t');
    const resetMs = stated === undefined ? (policy?.windowMs ?? unstatedResetMs) : secondsOf(stated);
    return this.#limit('RateLimit', { name, remaining }, resetMs);
  }

  #members(header: string): readonly Member[] {
    return membersOf(this.#text(header) ?? '') ?? this.#ignore(header, 'too long');
  }

  #text(header: string): string | undefined {
    const text = [this.#headers[header.toLowerCase()] ?? []].flat().join(', ').trim();
    return text === '' ? undefined : text;
  }

  /** Returns the limit, unless its reset is invalid or has come. */
  #limit(
    header: string,
    limit: Pick<RateLimit, 'name' | 'remaining'>,
    resetMs: number | undefined,
  ): readonly RateLimit[] {
    if (resetMs === undefined) return this.#ignore(header, 'not a time');
    if (resetMs < -roundingMs) return this.#ignore(header, 'in the past');
    if (resetMs > dayMs) return this.#ignore(header, 'more than a day away');
    return resetMs <= 0 ? [] : [{ ...limit, resetMs: Math.min(Math.ceil(resetMs), hourMs), isPolicyOnly: false }];
  }

  #ignore(header: string, why: string): readonly [] {
    this.ignored.add(`${header}: ${why}`);
    return [];
  }
}

/** Converts the dictionary of draft 7 (`limit=100, remaining=50, reset=30`) to an item of later drafts. Pure. */
function itemOf(dictionary: readonly Member[]): Member {
  const keys: Readonly<Record<string, string>> = { remaining: 'r', reset: 't' };
  return {
    name: dictionary.find(({ name }) => name === 'limit')?.value ?? '',
    value: '',
    parameters: new Map(dictionary.map(({ name, value }) => [keys[name] ?? name, value])),
  };
}

/** Returns a window that starts with the response, for a policy whose remaining requests it does not report. Pure. */
function windowOf(policy: Policy): readonly RateLimit[] {
  const { quota, windowMs, isOfRequests } = policy;
  if (!isOfRequests || quota === 0 || windowMs === undefined || windowMs === 0) return [];
  return [{ name: nameOf(policy), remaining: quota - 1, resetMs: Math.min(windowMs, hourMs), isPolicyOnly: true }];
}

function nameOf({ quota, windowMs }: Policy): string {
  return `RateLimit ${quota}/${windowMs ?? '?'}`;
}

/**
 * Returns the milliseconds until a reset; undefined if the text has no known form. The size of a number shows its unit:
 * 10⁹ s after the epoch is in 2001, and 10¹¹ ms is in 1973. A number of seconds beyond the window is one of
 * milliseconds. Pure.
 *
 * @param longestMs length of the window
 */
function untilReset(
  text: string,
  { longestMs, nowMs }: { readonly longestMs: number; readonly nowMs: number },
): number | undefined {
  const number = decimalOf(text);
  if (number === undefined) {
    const time = parseIsoDate(text) ?? parseHttpDate(text);
    return time === undefined ? undefined : time - nowMs;
  }
  if (number >= 1e9) return (number >= 1e11 ? number : number * 1000) - nowMs;
  return number * 1000 <= longestMs ? number * 1000 : number;
}

/** Merges limits of the same name: the fewest remaining requests are believed. At most eight limits are kept. Pure. */
function strictest(limits: readonly RateLimit[]): readonly RateLimit[] {
  const byName = Map.groupBy(limits, ({ name }) => name);
  return [...byName.values()]
    .flatMap((same) => same.toSorted((one, other) => one.remaining - other.remaining).slice(0, 1))
    .slice(0, 8);
}

/** Parses an integer of RFC 9651 section 3.3.1 that is not negative. */
function integerOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = integerOf(text);
  return seconds === undefined ? undefined : seconds * 1000;
}

function decimalOf(text: string): number | undefined {
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** Parses an ISO 8601 date and time, in UTC if it has no zone. `Date.parse` accepts far more. */
function parseIsoDate(text: string): number | undefined {
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|[+-]\d\d:?\d\d)?$/i.exec(text) ?? [];
  const at = Date.parse(`${day}T${time}${zone.toUpperCase().replace(/(\d\d)(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(at) ? undefined : at;
}
