import { InvalidArgumentError } from 'commander';

/** Returns a parser for an option whose value is a whole number between two limits, inclusive. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** Collects all values of a repeatable option, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
