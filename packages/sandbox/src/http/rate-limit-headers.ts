import type { Switches } from '../profiles/switch-table.ts';
import type { Standing } from '../store/request-window.ts';

/** Returns the headers that report what is left of the limits, in the form that the switch selects. Pure. */
export function rateLimitHeaders(
  standing: readonly Standing[],
  { rate_limit_headers: form }: Pick<Switches, 'rate_limit_headers'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  // The older forms report only one limit.
  const shortest = standing.at(-1);
  if (form === 'none' || shortest === undefined) return {};
  return forms[form](shortest, nowMs, standing);
}

type Form = (shortest: Standing, nowMs: number, all: readonly Standing[]) => Readonly<Record<string, string>>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The limit, what is left and the reset as three headers. */
const three =
  (prefix: string, reset: (ms: number, nowMs: number) => string): Form =>
  ({ requests, left, resetMs }, nowMs) => ({
    [`${prefix}-Limit`]: String(requests),
    [`${prefix}-Remaining`]: String(left),
    [`${prefix}-Reset`]: reset(resetMs, nowMs),
    // Times of day are those of the sandbox's clock.
    Date: new Date(nowMs).toUTCString(),
  });

const endOf = (ms: number, nowMs: number): number => Math.ceil((nowMs + ms) / 1000);

const forms: Readonly<Record<Exclude<Switches['rate_limit_headers'], 'none'>, Form>> = {
  draft: (_, __, all) => ({
    'RateLimit-Policy': all.map((each) => `${name(each)};q=${each.requests};w=${each.windowMs / 1000}`).join(', '),
    RateLimit: all.map((each) => `${name(each)};r=${each.left};t=${seconds(each.resetMs)}`).join(', '),
  }),
  dictionary: ({ requests, left, resetMs, windowMs }) => ({
    'RateLimit-Policy': `${requests};w=${windowMs / 1000}`,
    RateLimit: `limit=${requests}, remaining=${left}, reset=${seconds(resetMs)}`,
  }),
  seconds: three('RateLimit', (ms) => String(seconds(ms))),
  epoch: three('X-RateLimit', (ms, nowMs) => String(endOf(ms, nowMs))),
  epoch_ms: three('X-RateLimit', (ms, nowMs) => String(Math.ceil(nowMs + ms))),
  date: three('X-RateLimit', (ms, nowMs) => new Date(endOf(ms, nowMs) * 1000).toISOString()),
  window_ms: ({ requests, left, windowMs }) => ({
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Window': String(windowMs),
  }),
};

function name({ windowMs }: Standing): string {
  return windowMs === 3_600_000 ? '"hour"' : '"burst"';
}
