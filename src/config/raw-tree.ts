import { quoted } from '../routing/text.ts';

// The data from the YAML file, before any check.

/** The location of a value in the tree, such as `['folders', 0, 'rules', 1, 'match']`. */
export type KeyPath = readonly (string | number)[];

/**
 * Formats a path for the operator: `folders[0].rules[1].match`. A key that is not a plain word is quoted in brackets.
 */
export function formatKeyPath(path: KeyPath): string {
  return path.map(formatStep).join('');
}

function formatStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[A-Za-z_][\w-]{0,63}$/.test(step)) return `[${quoted(step)}]`;
  return index === 0 ? step : `.${step}`;
}

/** Parses a plain key such as `folders[0].rules[1]`. Quoted keys are never looked up. */
export function parseKeyPath(key: string): KeyPath {
  return [...key.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}

export const SECRET_TAGS = ['env', 'file', 'credential'] as const;

export type SecretTag = (typeof SECRET_TAGS)[number];

/**
 * A value tagged `!env NAME`, `!file PATH` or `!credential NAME`. Names the source of a secret; never contains the
 * secret itself.
 */
export class TaggedValue {
  readonly tag: SecretTag;
  readonly argument: string;

  constructor(tag: SecretTag, argument: string) {
    this.tag = tag;
    this.argument = argument;
  }
}

/** The value of a key, or `undefined` if `value` is not a mapping or has no such key. */
export function property(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Returns the list, or an empty list if the value is not one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the text, or `undefined` if the value is not text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
