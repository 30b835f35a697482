import { InvalidArgumentError } from 'commander';

/** Parses the value of an option as a whole number between two limits, inclusive. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** For an option that can be repeated: all its values, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
