import { refine, string } from 'zod/mini';
import type { ZodMiniType } from 'zod/mini';

/**
 * A string whose length is within both bounds, inclusive. The length is measured here because zod's length checks also
 * run on values that are not strings, and throw where `length` is an object.
 */
export function textWithin(least: number, most: number): ZodMiniType<string> {
  return string().check(refine((text) => text.length >= least && text.length <= most));
}
