import { InvalidArgumentError } from 'commander';

/** Reads the value of an option as a whole number; both ends are allowed. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** For an option that may be given several times: all its values, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
