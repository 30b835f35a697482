import { posix } from 'node:path';
import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { composed, folded, spellings } from './file-name.ts';
import { isVisible, quoted } from './text.ts';

/** The metadata in the file next to a video. The rule decides the rest. */
export interface Sidecar {
  /** Taken literally: words in braces are not replaced. */
  readonly title?: string;
  /** Empty: no description, whatever the rule has. */
  readonly description?: string;
  /** Added to the tags of the rule. */
  readonly tags?: readonly string[];
  readonly channel?: string;
  /** Replaces the feeds of the rule. Empty: no feed. */
  readonly publish?: readonly string[];
}

/**
 * The usual names for the sidecar of a file: for `clip.mp4`, `clip.yaml`, `clip.yml`, `clip.json`, and `clip.mp4.yaml`
 * and so on. Other spellings count too, see `isSidecarOf`. With more than one, the file is held until the operator
 * removes the others.
 */
export function sidecarNames(path: string): string[] {
  const { dir, name, base } = posix.parse(path);
  const names = [name, base].flatMap((stem) => ['yaml', 'yml', 'json'].map((ext) => `${stem}.${ext}`));
  return [...new Set(names)].filter((file) => file !== base).map((file) => posix.join(dir, file));
}

/**
 * Whether a path is the sidecar of a file: in the same directory, with its name or its name without the extension, in
 * upper or lower case, in any Unicode form, and perhaps with the `.txt` that Notepad adds.
 */
export function isSidecarOf(path: string, sidecarPath: string): boolean {
  const { dir, name, base } = posix.parse(path);
  if (dir !== posix.parse(sidecarPath).dir || !isSidecarName(sidecarPath)) return false;
  const stem = folded(posix.basename(stemOf(sidecarPath)));
  return path !== sidecarPath && (stem === folded(name) || stem === folded(base));
}

/**
 * The path of a sidecar without its extension. The video has this name, or one that continues with its own extension.
 */
export function stemOf(sidecarPath: string): string {
  const { dir, base } = posix.parse(sidecarPath);
  return posix.join(dir, base.replace(EXTENSION, ''));
}

/**
 * The likely spellings of the beginning of its videos' names: unchanged, in lower and upper case, capitalised, in both
 * Unicode forms.
 */
export function stemSpellings(stem: string): readonly string[] {
  const { dir, base } = posix.parse(stem);
  const cases = [
    base,
    base.toLowerCase(),
    base.toUpperCase(),
    base.charAt(0).toUpperCase() + base.slice(1).toLowerCase(),
  ];
  return [...new Set(cases.flatMap(spellings))].map((name) => posix.join(dir, name));
}

/**
 * The name of a sidecar, marker or checksum after its file was renamed: `clip.mp4.json` of `clip (2).mp4` is `clip
 * (2).mp4.json`.
 */
export function renamedSidecar(sidecarPath: string, before: string, after: string): string {
  const old = posix.parse(composed(before));
  const now = posix.parse(after);
  const name = composed(posix.basename(sidecarPath));
  const [lower, oldBase, oldName] = [name, old.base, old.name].map((text) => text.toLowerCase());
  if (lower?.startsWith(oldBase ?? '') === true) return now.base + name.slice(old.base.length);
  const at = lower?.indexOf(oldName ?? '') ?? -1;
  return at === -1 ? posix.basename(sidecarPath) : name.slice(0, at) + now.name + name.slice(at + old.name.length);
}

/** Whether a file of this name can be a sidecar, which is never uploaded itself. */
export function isSidecarName(path: string): boolean {
  return /[^/]/u.test(posix.basename(path).replace(EXTENSION, '')) && EXTENSION.test(posix.basename(path));
}

const EXTENSION = /\.(?:ya?ml|json)(?:\.txt)?$/iu;

export type SidecarCheck =
  | { readonly ok: true; readonly sidecar: Sidecar }
  | { readonly ok: false; readonly why: string };

/**
 * Checks the parsed content of a sidecar. `why` is one sentence with every problem in it. A key without a value counts
 * as missing; `tags` and `publish` may be a single text.
 */
export function checkSidecar(name: string, value: unknown): SidecarCheck {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, why: `sidecar ${quoted(name)}: expected keys such as "title: …", got ${kindOf(value)}` };
  }
  const given = Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
  const result = SIDECAR.safeParse(given);
  if (result.success) return { ok: true, sidecar: withoutUndefined(result.data) };
  return { ok: false, why: `sidecar ${quoted(name)}: ${joined(result.error.issues.flatMap(problems))}` };
}

/** In characters: far more than a person writes, far less than would hurt the service or the ledger. */
const MAX = { title: 1000, description: 20_000, tag: 200, tags: 100, id: 200, publish: 50 } as const;

const text = (max: number) =>
  z.string({ error: ({ input }) => `expected text, got ${kindOf(input)}` }).max(max, `longer than ${max} characters`);

const line = (max: number) => text(max).refine(isVisible, { error: 'is empty', abort: true });

/**
 * Identifiers become part of request paths. Refuses characters that could change the address; the service checks the
 * rest.
 */
const id = line(MAX.id).regex(/^(?!\.+$)[^\s\p{C}/?#%\\]+$/u, 'is not a valid identifier');

const listOf = (item: z.ZodType<string>, max: number) =>
  z.preprocess(
    (given) => (Array.isArray(given) || given === undefined ? given : [given]),
    z.array(item).max(max, `more than ${max} entries`),
  );

const SIDECAR = z.strictObject({
  title: line(MAX.title).optional(),
  description: text(MAX.description).optional(),
  tags: listOf(text(MAX.tag), MAX.tags).optional(),
  channel: id.optional(),
  publish: listOf(id, MAX.publish).optional(),
});

/** The keys of a sidecar, in the order of the documentation. */
export const SIDECAR_KEYS: readonly string[] = Object.keys(SIDECAR.shape);

function problems(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(unknownKey);
  const [key, index] = issue.path;
  return [`${String(key)}${index === undefined ? '' : `[${String(index)}]`}: ${issue.message}`];
}

function unknownKey(key: string): string {
  const known = SIDECAR_KEYS;
  const meant = didYouMean(key, known);
  return `${quoted(key)}: unknown key, ${meant === null ? `use one of ${known.join(', ')}` : `did you mean "${meant}"?`}`;
}

/** The first eight problems and a count, because a sentence with a hundred is unreadable. */
function joined(found: readonly string[]): string {
  const rest = found.length - 8;
  return [...found.slice(0, 8), ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return `the number ${value}; put it in quotes`;
  if (typeof value === 'boolean') return `${value}; put it in quotes`;
  return typeof value === 'string' ? 'plain text' : typeof value === 'object' ? 'keys' : `a ${typeof value}`;
}

function withoutUndefined(data: z.infer<typeof SIDECAR>): Sidecar {
  return Object.fromEntries(Object.entries(data).filter(([, entry]) => entry !== undefined));
}
