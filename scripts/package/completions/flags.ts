import type { CommandDocument, OptionDocument } from '../command-tree.ts';

/** `-c` and `--config`. */
export function flagsOf({ short, long }: OptionDocument): readonly string[] {
  return short === null ? [long] : [short, long];
}

export function optionsWithValue({ options }: CommandDocument): readonly OptionDocument[] {
  return options.filter(({ value }) => value !== null);
}
