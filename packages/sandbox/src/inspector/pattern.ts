import { isDeepStrictEqual } from 'node:util';
import { isShallow } from './nesting.ts';

/**
 * The pattern of a value. An object matches if each of its fields matches; other fields of the value are ignored. An
 * array matches if it has the same length and each item matches; any other value must be equal. An object with names
 * that begin with `$` holds operators: see `Operators`.
 */
export type Pattern = string | number | boolean | null | readonly Pattern[] | { readonly [name: string]: Pattern };

/** Operators in place of a value. All given operators must match. */
interface Operators {
  /** The text contains this part, or the list contains a matching item. */
  readonly $contains?: Pattern;
  /** The text matches this pattern, in which `*` matches any characters and `?` one. */
  readonly $like?: string;
  /** Whether a value must be present or absent. */
  readonly $present?: boolean;
  /** At least one of these patterns matches. */
  readonly $one_of?: readonly Pattern[];
  /** This pattern does not match. */
  readonly $not?: Pattern;
  /** The value equals this one exactly, with no other fields. */
  readonly $equals?: Pattern;
}

/** A mistake and its place. */
interface Mistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns the mistakes in a pattern; empty for a valid one. Pure. */
export function mistakesIn(pattern: unknown, path: readonly (string | number)[] = []): Mistake[] {
  if (!isShallow(pattern, MAX_DEPTH)) return [{ path, message: `must not be nested deeper than ${MAX_DEPTH} levels` }];
  return mistakesWithin(pattern, path);
}

const MAX_DEPTH = 32;
const NAMES = ['$contains', '$like', '$present', '$one_of', '$not', '$equals'] as const;

function mistakesWithin(pattern: unknown, path: readonly (string | number)[]): Mistake[] {
  if (Array.isArray(pattern)) return pattern.flatMap((item, index) => mistakesWithin(item, [...path, index]));
  if (!isObject(pattern)) return [];
  const names = Object.keys(pattern);
  const asksFor = names.filter((name) => name.startsWith('$'));
  const unknown = asksFor.find((name) => !NAMES.some((known) => known === name));
  if (unknown !== undefined) return [{ path: [...path, unknown], message: `must be one of ${NAMES.join(', ')}` }];
  if (asksFor.length > 0 && asksFor.length < names.length)
    return [{ path, message: `must not have both ${asksFor[0]} and names of fields` }];
  return names.flatMap((name) => mistakesInField(name, pattern[name], [...path, name]));
}

function mistakesInField(name: string, value: unknown, path: readonly (string | number)[]): Mistake[] {
  if (name === '$like' && typeof value !== 'string') return [{ path, message: 'must be a string' }];
  if (name === '$present' && typeof value !== 'boolean') return [{ path, message: 'must be true or false' }];
  if (name === '$one_of' && (!Array.isArray(value) || value.length === 0))
    return [{ path, message: 'must be a list of patterns' }];
  return name === '$equals' ? [] : mistakesWithin(value, path);
}

/**
 * Describes each difference between the value and the pattern in a sentence without a full stop. Pure. Empty if the
 * value matches.
 * @param value a JSON value; undefined if there is none @param place name of the value in the sentences, like
 *   `body.title`
 */
export function differencesOf(pattern: Pattern, value: unknown, place: string): string[] {
  if (Array.isArray(pattern)) return differencesOfList(pattern as readonly Pattern[], value, place);
  if (!isObject(pattern)) return pattern === value ? [] : [differs(place, value, said(pattern))];
  if (isOperators(pattern)) return differencesOfOperators(pattern, value, place);
  if (!isObject(value)) return [differs(place, value, 'an object')];
  return Object.entries<Pattern>(pattern).flatMap(([name, wanted]) =>
    differencesOf(wanted, fieldOf(value, name), `${place}.${name}`),
  );
}

function differencesOfList(pattern: readonly Pattern[], value: unknown, place: string): string[] {
  if (!Array.isArray(value)) return [differs(place, value, 'a list')];
  if (value.length !== pattern.length) return [`${place} has ${value.length} items, not ${pattern.length}`];
  return pattern.flatMap((wanted, index) => differencesOf(wanted, value[index], `${place}[${index}]`));
}

function differencesOfOperators(operators: Operators, value: unknown, place: string): string[] {
  const {
    $contains: part,
    $like: like,
    $present: present,
    $one_of: choices,
    $not: unwanted,
    $equals: equal,
  } = operators;
  const found: string[] = [];
  if (part !== undefined && !contains(value, part))
    found.push(`${differs(place, value)}, which does not contain ${said(part)}`);
  if (like !== undefined && !(typeof value === 'string' && isLike(like, value)))
    found.push(`${differs(place, value)}, which is not like ${said(like)}`);
  if (present === true && value === undefined) found.push(`${place} is missing`);
  if (present === false && value !== undefined) found.push(`${differs(place, value)}, but should be missing`);
  if (choices !== undefined && !choices.some((choice) => fits(choice, value)))
    found.push(`${differs(place, value)}, none of ${choices.map(said).join(', ')}`);
  if (unwanted !== undefined && fits(unwanted, value)) found.push(`${differs(place, value)}, which it must not be`);
  if (equal !== undefined && !isDeepStrictEqual(equal, value))
    found.push(`${differs(place, value)}, which is not exactly ${said(equal)}`);
  return found;
}

function fits(pattern: Pattern, value: unknown): boolean {
  return differencesOf(pattern, value, '').length === 0;
}

function contains(value: unknown, part: Pattern): boolean {
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part);
  return Array.isArray(value) && value.some((item) => fits(part, item));
}

function differs(place: string, value: unknown, wanted?: string): string {
  if (value === undefined) return wanted === undefined ? `${place} is missing` : `${place} is missing, not ${wanted}`;
  return `${place} is ${said(value)}${wanted === undefined ? '' : `, not ${wanted}`}`;
}

/** Returns a value as JSON, shortened, and without characters that a terminal would interpret. */
export function said(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'missing').replaceAll(
    UNSHOWN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > MOST_SAID ? `${text.slice(0, MOST_SAID)}…` : text;
}

const MOST_SAID = 80;
const UNSHOWN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function isOperators(pattern: object): pattern is Operators {
  return Object.keys(pattern).some((name) => name.startsWith('$'));
}

function isObject(value: unknown): value is Readonly<Record<string, never>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/**
 * Returns whether the whole text matches the pattern, in which `*` matches any characters and `?` one. Unlike a regular
 * expression, it needs at most quadratic time, because patterns and texts come from outside.
 */
export function isLike(pattern: string, text: string): boolean {
  let [at, place] = [0, 0];
  let star = -1;
  let resumed = 0;
  while (place < text.length) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resumed = place;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[place])) {
      at += 1;
      place += 1;
    } else if (star !== -1) {
      at = star + 1; // let the last star match one character more
      resumed += 1;
      place = resumed;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
