import { InvalidArgumentError } from 'commander';
import { LONGEST, parseDuration } from '../config/units.ts';

/** Parses an option value as a whole number between two limits, inclusive. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** Parses an option value as a duration, in milliseconds. */
export const duration = durationWithin('0s', LONGEST);

/** Parses an option value as a duration between two limits, inclusive, in milliseconds. */
export function durationWithin(min: string, max: string): (text: string) => number {
  return (text) => {
    const measured = parseDuration(text, { min, max });
    if (!measured.ok) throw new InvalidArgumentError(`It is ${measured.message}.`);
    return measured.value;
  };
}

/** Collects all values of an option that can be repeated, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The fields that have a value, as for the options that were given. */
export function given<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
