import { z } from 'zod';
import { type Parsed, refused } from './parsed.ts';
import { type Secret, asSecret } from './secret.ts';
import { DURATION_FORM, LONGEST, parseDuration } from './units.ts';

/** A text setting that `parse` converts to a value. Editors still see it as text. */
export function parsed<T>(
  form: string,
  parse: (text: string) => Parsed<T>,
  shown: { examples: string[]; pattern?: string },
) {
  return z
    .string({ error: ({ input }) => (isOtherScalar(input) ? `write ${form}` : undefined) })
    .meta(shown)
    .transform((text, context): T => {
      const result = parse(text);
      if (result.ok) return result.value;
      context.issues.push({ code: 'custom', message: result.message, input: text });
      return z.NEVER;
    });
}

export type SecretKind =
  | 'key'
  | 'webhook secret'
  | 'webhook text'
  | 'address'
  | 'topic'
  | 'token'
  | 'password'
  | 'header';

/** A secret. The `x-secret` mark alone makes a setting a secret: `secrets.ts` puts the resolved value in its place. */
export function secret(kind: SecretKind, description?: string) {
  return z
    .unknown()
    .meta({ type: 'string', 'x-secret': kind, ...(description !== undefined && { description }) })
    .transform((value): Secret => asSecret(value));
}

interface Range {
  readonly min?: string;
  readonly max?: string;
}

export function duration(normally: string, about: string, range: Range = {}) {
  return anyDuration(about, range).prefault(normally);
}

export function anyDuration(about: string, { min = '10ms', max = LONGEST }: Range) {
  return parsed(DURATION_FORM, (text) => parseDuration(text, { min, max }), {
    examples: ['500ms', '5s', '2m', '24h', '7d'],
    pattern: '^[0-9]+(ms|s|m|h|d)$',
  }).describe(`${about} From ${min} to ${max}.`);
}

export function count(normally: number, about: string, range: { min: number; max: number }) {
  return number(about, range).prefault(normally);
}

export function number(about: string, range: { min: number; max: number }) {
  const message = `must be a whole number from ${range.min} to ${range.max}`;
  return z
    .int({ error: ({ input }) => (isOtherScalar(input) || typeof input === 'string' ? message : undefined) })
    .min(range.min, message)
    .max(range.max, message)
    .describe(about);
}

/**
 * Whether YAML parsed the value as a number or boolean. Only then does an example of the format help; other values get
 * the message from `check-schema.ts`.
 */
function isOtherScalar(input: unknown): boolean {
  return typeof input === 'number' || typeof input === 'boolean';
}

export const text = z.string().regex(/\S/, { error: 'must not be empty', abort: true });

/** Parses the name of a host or a share in a fleet. */
export function parseName(text: string): Parsed<string> {
  if (/^[A-Za-z\d][\w.-]{0,62}$/.test(text)) return { ok: true, value: text };
  return refused('a name may have letters, digits, . _ and -, at most 63, and begins with a letter or digit');
}

/** A text that `mistakeIn` accepts by returning null. */
export function textThat(mistakeIn: (text: string) => string | null) {
  return text.superRefine((value, context) => {
    const message = mistakeIn(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

/** An HTTP header name (RFC 9110 section 5.6.2). */
export const headerName = text
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'not the name of a header')
  .max(100, 'must not be longer than 100 characters');

/**
 * Identifiers issued by the service, used verbatim. They contain no spaces, but pasting often adds some around them.
 */
export const identifier = text
  .regex(/^\S+$/, 'must not contain spaces')
  .max(200, 'must not be longer than 200 characters');

export const path = text.refine(
  (value) => !/^~[^/]/.test(value),
  '~ is only your own home; write the full path of another one',
);
