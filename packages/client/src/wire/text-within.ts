import { refine, string } from 'zod/mini';
import type { ZodMiniType } from 'zod/mini';

/**
 * A text of so many characters, both bounds included. Measured here: the length checks of zod also measure what is no
 * text, and throw where its `length` is an object.
 */
export function textWithin(least: number, most: number): ZodMiniType<string> {
  return string().check(refine((text) => text.length >= least && text.length <= most));
}
