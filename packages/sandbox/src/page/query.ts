import { z } from 'zod';
import { pageNumber } from '../http/input.ts';

export const PER_PAGE = 50;

export const page = pageNumber(999_999_999).default(1);

/** Text field of a query. Without scripts, forms also send empty fields, which count as absent. */
export const optionalText = z
  .string()
  .max(200, 'must have at most 200 characters')
  .transform((text) => (text === '' ? undefined : text))
  .optional();

export function optionalChoice<const T extends string>(choices: readonly T[]) {
  return z
    .enum(['', ...choices], `must be ${choices.join(', ')}`)
    .transform((choice) => (choice === '' ? undefined : (choice as T)))
    .optional();
}
