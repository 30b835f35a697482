import { isLinkFile } from './link-file.ts';
import { posix } from 'node:path';
import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { composed, folded, isVisible, quoted, spellings } from './text.ts';

/** Metadata from the file next to a video. Anything it omits comes from the rule. */
export interface Sidecar {
  /** Used literally: words in braces are not replaced. */
  readonly title?: string;
  /** Replaces the rule's description; empty for no description. */
  readonly description?: string;
  /** Added to the rule's tags. */
  readonly tags?: readonly string[];
  readonly channel?: string;
  /** Replaces the rule's feeds; empty for no feed. */
  readonly publish?: readonly string[];
}

/**
 * The usual sidecar names for a file: `clip.yaml`, `clip.yml`, `clip.json`, `clip.mp4.yaml` and so on for `clip.mp4`.
 * `isSidecarOf` also accepts other spellings. A file with more than one sidecar is held until the operator removes the
 * extra ones.
 */
export function sidecarNames(path: string): string[] {
  const { dir, name, base } = posix.parse(path);
  const names = [name, base].flatMap((stem) => ['yaml', 'yml', 'json'].map((ext) => `${stem}.${ext}`));
  return [...new Set(names)].filter((file) => file !== base && !isLinkFile(file)).map((file) => posix.join(dir, file));
}

/**
 * Whether a path is a file's sidecar: in the same directory, named after the file with or without its extension, in any
 * case and Unicode form, and optionally with the `.txt` that Notepad adds.
 */
export function isSidecarOf(path: string, sidecarPath: string): boolean {
  const { dir, name, base } = posix.parse(path);
  if (dir !== posix.parse(sidecarPath).dir || !isSidecarName(sidecarPath)) return false;
  const stem = folded(posix.basename(stemOf(sidecarPath)));
  return path !== sidecarPath && (stem === folded(name) || stem === folded(base));
}

/**
 * The path of a sidecar without its extension. The video's path is the same, with or without an extension of its own.
 */
export function stemOf(sidecarPath: string): string {
  const { dir, base } = posix.parse(sidecarPath);
  return posix.join(dir, base.replace(EXTENSION, ''));
}

/**
 * The likely spellings of a sidecar's stem in video names: unchanged, lower case, upper case and capitalised, in both
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
 * The new name of a sidecar, marker or checksum whose video was renamed: for `clip (2).mp4`, `clip.mp4.json` becomes
 * `clip (2).mp4.json`.
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

/** Whether a file with this name can be a sidecar. Sidecars are never uploaded. */
export function isSidecarName(path: string): boolean {
  if (isLinkFile(path)) return false;
  return /[^/]/u.test(posix.basename(path).replace(EXTENSION, '')) && EXTENSION.test(posix.basename(path));
}

const EXTENSION = /\.(?:ya?ml|json)(?:\.txt)?$/iu;

export type SidecarCheck =
  | { readonly ok: true; readonly sidecar: Sidecar }
  | { readonly ok: false; readonly why: string };

/**
 * Checks the parsed content of a sidecar. `why` lists every problem in one sentence. A key without a value counts as
 * missing; `tags` and `publish` may be a single string.
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

/**
 * Limits in characters (entries for `tags` and `publish`): far more than anyone writes, yet harmless to the service and
 * the ledger.
 */
const MAX = { title: 1000, description: 20_000, tag: 200, tags: 100, id: 200, publish: 50 } as const;

const text = (max: number) =>
  z.string({ error: ({ input }) => `expected text, got ${kindOf(input)}` }).max(max, `longer than ${max} characters`);

const line = (max: number) => text(max).refine(isVisible, { error: 'is empty', abort: true });

/**
 * An identifier from a sidecar. Identifiers become part of request paths, so characters that could change the address
 * are rejected. The service checks the rest.
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

/** Sidecar keys, in the order of the documentation. */
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

/** Joins the first eight problems and a count of the rest, because a list of a hundred would be unreadable. */
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
