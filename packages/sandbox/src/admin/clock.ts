import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonBody } from '../http/input.ts';
import { isoTime } from '../http/wire.ts';
import type { Endpoint } from '../http/handler.ts';
import { timeField } from '../makers/fields.ts';

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
