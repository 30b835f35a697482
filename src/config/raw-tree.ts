import { quoted } from '../routing/text.ts';

// The data of the YAML file, before any check.

/** The place of a value in the tree: `['folders', 0, 'rules', 1, 'match']`. */
export type KeyPath = readonly (string | number)[];

/**
 * The path as the operator reads it: `folders[0].rules[1].match`; a key that is not a plain word is quoted in brackets.
 */
export function formatKeyPath(path: KeyPath): string {
  return path.map(formatStep).join('');
}

function formatStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[A-Za-z_][\w-]{0,63}$/.test(step)) return `[${quoted(step)}]`;
  return index === 0 ? step : `.${step}`;
}

/** Parses plain keys such as `folders[0].rules[1]`. The program never looks up quoted ones. */
export function parseKeyPath(key: string): KeyPath {
  return [...key.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}

export const SECRET_TAGS = ['env', 'file', 'credential'] as const;

export type SecretTag = (typeof SECRET_TAGS)[number];

/**
 * `!env NAME`, `!file PATH` or `!credential NAME`: names the source of a secret, and never contains the secret itself.
 */
export class TaggedValue {
  readonly tag: SecretTag;
  readonly argument: string;

  constructor(tag: SecretTag, argument: string) {
    this.tag = tag;
    this.argument = argument;
  }
}

/** The value of a key, or `undefined` without a mapping or such a key. */
export function property(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The list, or an empty one if the value is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, or `undefined` if the value is not text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
