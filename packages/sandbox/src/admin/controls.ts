import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, textField, type Endpoint, timeField } from '../http/input.ts';
import { isoTime, wholeVideo } from '../http/wire.ts';
import { profileSchema, switchesSchema, type Switchboard } from '../profiles/switchboard.ts';
import { openPoints, profiles } from '../profiles/switch-table.ts';
import type { Services } from '../services.ts';
import type { RequestWindow } from '../store/request-window.ts';

/** Endpoints for the clock that governs the rate limit, processing, expiry and every time in a response. */
export function clockEndpoints(clock: Clock): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/clock',
      says: "Returns the service's time, and whether the clock is stopped.",
      handler: (context) => context.json({ data: clockView(clock) }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/clock',
      says: 'Stops the clock with {"frozen": true}, or at a later time with {"now": "2030-01-01T00:00:00Z"}; with {"frozen": false} it continues from where it stopped.',
      handler: async (context) => {
        const { frozen, now } = await jsonBody(context.req.raw, setting);
        if (now !== undefined) inRange(() => clock.moveTo(now));
        if (frozen === true && !clock.isFrozen) clock.freeze();
        if (frozen === false && clock.isFrozen) clock.resume();
        return context.json({ data: clockView(clock) });
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/clock/advance',
      says: 'Moves the clock forward, stopped or not, by {"ms": 3600000} or {"by": "1h"} (ms, s, m, h, d). It never goes back.',
      handler: async (context) => {
        const ms = await jsonBody(context.req.raw, advance);
        inRange(() => clock.advance(ms));
        return context.json({ data: clockView(clock) });
      },
    },
  ];
}

export function clockView(clock: Clock) {
  return { now: isoTime(clock.nowMs()), frozen: clock.isFrozen };
}

const setting = z
  .strictObject({ frozen: z.boolean('must be true or false').optional(), now: timeField.optional() })
  .refine(({ frozen, now }) => frozen !== undefined || now !== undefined, 'must have frozen or now');

/** @throws ApiError 422 the clock refuses the time */
function inRange(move: () => void): void {
  try {
    move();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ApiError('invalid_request', error.message);
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const duration = z
  .string('must be a time like 90s or 1h')
  .regex(/^\d{1,12}(ms|s|m|h|d)$/, 'must be a whole number and one of ms, s, m, h, d, like 90s or 1h')
  .transform((text) => Number.parseInt(text, 10) * (UNITS_MS[text.replace(/^\d+/, '')] ?? 0));

const milliseconds = z.int('must be a whole number').min(0, 'must not be negative');

const advance = z
  .strictObject({ ms: milliseconds.optional(), by: duration.optional() })
  .refine(({ ms, by }) => (ms === undefined) !== (by === undefined), 'must have either ms or by')
  .transform(({ ms, by }) => ms ?? by ?? 0);

/** Endpoints for the choices that the specification leaves open, which can be changed while the service is running. */
export function profileEndpoints(switchboard: Switchboard): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/profile',
      says: 'Returns the profile, the points set in addition to it, and all points with their values.',
      handler: (context) => context.json({ data: { ...switchboard.view(), profiles, points: openPoints } }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/profile',
      says: 'Chooses a profile, and single points in addition to it, with {"profile": "lenient", "switches": {"create_status": "202"}}; {} is the default.',
      handler: async (context) => {
        const { profile, switches } = await jsonBody(context.req.raw, whole);
        switchboard.replace(profile, switches);
        return context.json({ data: switchboard.view() });
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/profile/switches',
      says: 'Sets single points with {"create_status": "202"}; the others stay.',
      handler: async (context) => {
        switchboard.set(await jsonBody(context.req.raw, switchesSchema));
        return context.json({ data: switchboard.view() });
      },
    },
  ];
}

const whole = z.strictObject({ profile: profileSchema.default('default'), switches: switchesSchema.default({}) });

export function failVideoEndpoint({
  records,
  lifecycle,
  links,
}: Pick<Services, 'records' | 'lifecycle' | 'links'>): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/videos/:id/fail',
    says: 'Makes a pending or processing video fail now, with {"code", "message"} as its error; 409 if it is ready or failed.',
    handler: async (context) => {
      const id = context.req.param('id') ?? '';
      const failure = await jsonBody(context.req.raw, failureBody);
      lifecycle.advance();
      const isFailed = lifecycle.fail(id, failure);
      const video = records.videos.find(id);
      if (!video) throw new ApiError('not_found', 'There is no such video.');
      if (!isFailed) throw new ApiError('conflict', `The status of this video is already ${video.status}.`);
      return context.json({ data: wholeVideo(video, links) });
    },
  };
}

const failureBody = z.strictObject({
  code: z.string('must be a string').regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a code like bad_codec'),
  message: textField(1000),
});

/** Endpoints for the rate limit of api-spec section 8, which the service raises on request. */
export function rateLimitEndpoints(requestWindow: RequestWindow): Endpoint[] {
  const view = () => ({ requests_per_hour: requestWindow.limit });
  return [
    {
      method: 'GET',
      path: '/_sandbox/rate-limit',
      says: 'Returns how many requests a key may send in any rolling hour.',
      handler: (context) => context.json({ data: view() }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/rate-limit',
      says: 'Sets the limit with {"requests_per_hour": 50}, for every key, at once; past requests count. Lasts until the process ends.',
      handler: async (context) => {
        const { requests_per_hour: limit } = await jsonBody(context.req.raw, limitSetting);
        requestWindow.limit = limit;
        return context.json({ data: view() });
      },
    },
  ];
}

const range = 'must be a whole number from 1 to 1000000000';
const limitSetting = z.strictObject({ requests_per_hour: z.int(range).min(1, range).max(1_000_000_000, range) });
