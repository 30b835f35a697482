import { z } from 'zod';

/** A query parameter that is an integer from 1 to `max`. */
export function pageNumber(max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be an integer from 1 to ${max}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, `must be an integer from 1 to ${max}`);
}
