import type { z } from 'zod';
import { didYouMean } from '../routing/did-you-mean.ts';
import { quoted } from '../routing/text.ts';
import { keysAt, placesOf, schemaAt } from './json-schema.ts';
import { error, type Finding } from './problem.ts';
import { formatKeyPath, property, TaggedValue, textOf, type KeyPath } from './raw-tree.ts';
import { configSchema, type CheckedTree } from './schema.ts';

type Issue = z.core.$ZodIssue;

/** A finding with the likely meaning of an unknown key. The intended key is then not also reported as missing. */
interface Explained extends Finding {
  readonly meant?: string;
  readonly isMissing?: true;
}

/** Checks the whole tree against the schema. `checked` is null if there are findings. */
export function checkSchema(tree: unknown): {
  readonly checked: CheckedTree | null;
  readonly findings: readonly Finding[];
} {
  const result = configSchema.safeParse(tree, { error: general, reportInput: true });
  if (result.success) return { checked: result.data, findings: [] };
  const explained = result.error.issues.flatMap((issue) => explain(issue, []));
  const meant = new Set(explained.flatMap((finding) => finding.meant ?? []));
  const findings = explained.filter(({ path, isMissing }) => isMissing !== true || !meant.has(formatKeyPath(path)));
  return { checked: null, findings };
}

/**
 * Default messages for issues that the schema has no message for. Values are never repeated because they may be secret.
 */
function general(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'missing';
  if (issue.input instanceof TaggedValue) return misplaced(issue.input);
  if (issue.input === null) return 'has no value; set one or remove the key';
  if (issue.code === 'invalid_type') return wrongType(issue.expected, issue.input);
  if (issue.code === 'invalid_value') return wrongWord(issue.values.map(String), issue.input);
  return 'not allowed here';
}

function misplaced({ tag }: TaggedValue): string {
  return `!${tag} works only for service.api_key, service.webhook_secret, ledger.password, uploads.headers and the secrets of notify`;
}

function wrongType(expected: string, input: unknown): string {
  if (expected === 'array')
    return `must be a list, not ${kindOf(input)}; write it like [a, b], or put "- " before each item`;
  if (expected === 'object') return `must contain keys (name: value), not ${kindOf(input)}`;
  if (expected === 'int' || expected === 'number') return `must be a whole number, not ${kindOf(input)}`;
  const isPlain = typeof input === 'number' || typeof input === 'boolean';
  return `must be text, not ${kindOf(input)}${isPlain ? '; put it in quotes' : ''}`;
}

function wrongWord(words: readonly string[], input: unknown): string {
  const intended = typeof input === 'string' ? didYouMean(input, words) : null;
  return `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}${intended === null ? '' : `; did you mean ${quoted(intended)}?`}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return `the value ${value}`;
  return 'a mapping';
}

function explain(issue: Issue, parent: KeyPath): Explained[] {
  const path = [...parent, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  // Where a mapping is allowed, the fields of a tagged value would look like keys.
  if (issue.input instanceof TaggedValue) return [error(path, misplaced(issue.input))];
  // An invalid header name, in a mapping that allows any key.
  if (issue.code === 'invalid_key') return issue.issues.map((each) => ({ ...error(path, each.message), at: 'key' }));
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key, issue.input));
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return explainUnion(issue.errors, path);
  if (issue.message === 'missing' || (issue.code === 'invalid_type' && issue.expected === 'nonoptional'))
    return [missing(path)];
  const isName = issue.code === 'custom' && issue.params?.['isName'] === true;
  return [{ ...error(path, issue.message), ...(isName && { at: 'key' }) }];
}

/**
 * Explains the intended alternative of a value that may be a word or a mapping. A mapping with a wrong key was clearly
 * meant as a mapping.
 */
function explainUnion(branches: readonly (readonly Issue[])[], path: KeyPath): Explained[] {
  const begun = branches.filter((issues) =>
    issues.every(({ path: below, code }) => below.length > 0 || code === 'unrecognized_keys'),
  );
  const meant = begun.find((issues) => !issues.some(isUnknownHere)) ?? begun[0]?.filter(isUnknownHere);
  if (meant !== undefined) return meant.flatMap((issue) => explain(issue, path));
  const words = branches.flat().find((issue) => issue.code === 'invalid_value');
  const [[first] = []] = branches;
  if (words === undefined && first !== undefined) return explain(first, path);
  const mappings = keysAt(path).map((key) => `{ ${key}: … }`);
  return [error(path, wrongWord([...(words?.values ?? []).map(String), ...mappings], words?.input))];
}

function isUnknownHere({ path, code }: Issue): boolean {
  return path.length === 0 && code === 'unrecognized_keys';
}

/** @param within the mapping that contains the key */
function unknownKey(parent: KeyPath, key: string, within: unknown): Explained {
  const allowed = keysAt(parent, textOf(property(within, 'type')));
  const finding = (message: string): Finding => ({ ...error([...parent, key], message), at: 'key' });
  if (key === '<<')
    return finding('merge keys are not part of YAML 1.2; use an alias for a whole value, like rules: *name');
  if (allowed.includes(key)) return finding(`write only one of ${allowed.join(' and ')}`);
  const intended = didYouMean(key, allowed);
  if (intended !== null)
    return {
      ...finding(`unknown key, did you mean ${quoted(intended)}?`),
      meant: formatKeyPath([...parent, intended]),
    };
  if (keysAt(parent).includes(key)) return finding(`not for this type; allowed here: ${allowed.join(', ')}`);
  const elsewhere = nearest(placesOf(key), parent);
  if (elsewhere !== undefined) return finding(`unknown key here; it belongs in ${elsewhere}`);
  return finding(`unknown key; allowed here: ${allowed.join(', ')}`);
}

/** Finds the place with the longest path in common with `parent`. */
function nearest(places: readonly string[], parent: KeyPath): string | undefined {
  const here = formatKeyPath(parent).replaceAll(/\d+/g, '');
  const shared = (place: string): number => {
    const above = place.slice(0, Math.max(0, place.lastIndexOf('.')));
    return here.startsWith(above) ? above.length : 0;
  };
  return places.toSorted((one, other) => shared(other) - shared(one))[0];
}

function missing(path: KeyPath): Explained {
  const about = schemaAt(path)?.description ?? '';
  return { ...error(path, `missing. ${firstSentence(about)}`.trimEnd()), isMissing: true };
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}
