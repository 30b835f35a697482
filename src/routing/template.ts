import { posix } from 'node:path';
import type { Captures } from './match.ts';
import { distinct, isVisible, manyLines, oneLine, withoutSmbCharacters } from './text.ts';

/** Facts about a file that templates can use. */
export interface TemplateContext {
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  /** Modification time, epoch milliseconds. */
  readonly modifiedMs: number;
  /** Captures from the rule's `match`. A capture hides the built-in word with the same name. */
  readonly captures?: Captures;
}

export const TEMPLATE_WORDS = ['title', 'name', 'ext', 'path', 'dir', 'dirs', 'date', 'date:local'] as const;
type TemplateWord = (typeof TEMPLATE_WORDS)[number];

/**
 * Renders the title: one line with a visible character. Falls back to the file name, then to `untitled`.
 *
 * All templates insert values literally (braces in a file name are not words) and never throw. Invalid templates and
 * unknown words, which the configuration rejects, are left as written.
 */
export function renderTitle(template: string, context: TemplateContext): string {
  const names = [render(template, context), posix.basename(context.path)];
  return names.map((name) => oneLine(withoutSmbCharacters(name))).find(isVisible) ?? 'untitled';
}

/**
 * Renders a description. Keeps the template's line breaks but makes each value one line. Null if the result is empty.
 */
export function renderDescription(template: string, context: TemplateContext): string | null {
  return manyLines(render(template, context, (value) => oneLine(withoutSmbCharacters(value)))) || null;
}

/**
 * Renders tags: one line each, without empty tags or duplicates. A template that is exactly `{dirs}` gives one tag per
 * sub-folder.
 */
export function renderTags(templates: readonly string[], context: TemplateContext): string[] {
  return distinct(
    templates.flatMap((template) => renderTag(template, context)).map((tag) => oneLine(withoutSmbCharacters(tag))),
  );
}

function renderTag(template: string, context: TemplateContext): string[] {
  const isPerFolder = template.trim() === '{dirs}' && captured(context, 'dirs') === undefined;
  return isPerFolder ? valueOf('dirs', context).split('/') : [render(template, context)];
}

const KEEPS_SLASHES: readonly string[] = ['dir', 'dirs', 'path'] satisfies TemplateWord[];

/**
 * Renders a directory inside the folder as a relative path with `/`. An empty result means the folder itself. The path
 * never leaves the folder or uses a hidden name: empty and `.` segments are dropped; leading dots and control
 * characters become `_`. A `/` is a separator only in the template itself and in the values of `{dir}`, `{dirs}` and
 * `{path}`.
 */
export function renderDirectory(template: string, context: TemplateContext): string {
  const text = render(template, context, (value, word) =>
    KEEPS_SLASHES.includes(word) ? value : value.replaceAll('/', '_'),
  );
  return text
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .map((segment) => segment.replace(/\p{Cc}/gu, '_').replace(/^\.+/u, '_'))
    .join('/');
}

type Clean = (value: string, word: string) => string;

function render(template: string, context: TemplateContext, clean: Clean = (value) => value): string {
  const parsed = parseTemplate(template);
  return parsed.ok ? parsed.parts.map((part) => renderPart(part, context, clean)).join('') : template;
}

function renderPart(part: TemplatePart, context: TemplateContext, clean: Clean): string {
  if (part.kind === 'text') return part.text;
  const value = captured(context, part.word) ?? (isTemplateWord(part.word) ? valueOf(part.word, context) : undefined);
  return value === undefined ? `{${part.word}}` : clean(value, part.word);
}

function captured({ captures = {} }: TemplateContext, name: string): string | undefined {
  return Object.hasOwn(captures, name) ? captures[name] : undefined;
}

function isTemplateWord(word: string): word is TemplateWord {
  return TEMPLATE_WORDS.some((known) => known === word);
}

function valueOf(word: TemplateWord, { path, modifiedMs }: TemplateContext): string {
  const { name, ext, dir } = posix.parse(path);
  const values: Record<TemplateWord, string> = {
    title: oneLine(name.replace(/[_.]/g, ' ')) || name,
    name,
    ext: ext.slice(1),
    path,
    dir,
    dirs: dir,
    date: dayOf(modifiedMs),
    'date:local': dayOf(modifiedMs - new Date(modifiedMs).getTimezoneOffset() * 60_000),
  };
  return values[word];
}

/**
 * The UTC date of a time, or `undated` for a time outside the calendar, because a broken clock must not stop an upload.
 */
function dayOf(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? 'undated' : (date.toISOString().split('T')[0] ?? '');
}

/** A piece of a template: literal text, or a word to replace. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'word'; readonly word: string };

export type Template =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly why: string };

const PIECE = /\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*(?::local)?)\}|[^{}]+|[{}]/gsu;

/**
 * Parses a template: `{word}` is replaced; `{{` and `}}` are literal braces. For any other brace, `why` is a sentence
 * fragment that states what to write instead.
 */
export function parseTemplate(template: string): Template {
  const parts: TemplatePart[] = [];
  for (const [piece, word] of template.matchAll(PIECE)) {
    if (word !== undefined) parts.push({ kind: 'word', word });
    else if (piece === '{' || piece === '}') return { ok: false, why: strayBrace(piece) };
    else parts.push({ kind: 'text', text: piece === '{{' ? '{' : piece === '}}' ? '}' : piece });
  }
  return { ok: true, parts };
}

function strayBrace(brace: string): string {
  return `"${brace}" is not part of a word like {title}; write "${brace}${brace}" for the brace itself`;
}
