import { z } from 'zod';

/** An id with the prefix of its resource type (api-spec section 2), like `ch_news`. */
export function idField(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}[A-Za-z0-9_-]{1,60}$`), `must be ${prefix} and letters, digits, _ or -`);
}

/** A time in ISO 8601 with a zone, not before 1970. @returns ms since 1970 */
export const timeField = z.iso
  .datetime({ offset: true, message: 'must be a time like 2026-11-20T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .refine((ms) => ms >= 0, 'must not be before 1970');

/** Returns a name reduced to characters that an address may contain. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return slug === '' ? 'unnamed' : slug;
}
