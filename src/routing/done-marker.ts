import { posix } from 'node:path';
import { composed } from './text.ts';

export type DoneMarker = ReturnType<typeof createDoneMarker>;

/**
 * Relates files to the markers that declare them complete, such as `clip.mp4.done` for `clip.mp4`. All paths are
 * relative to the folder.
 *
 * @param template a file name with `{name}` and `{ext}` of the marked file, already accepted by `lintDoneMarker`
 */
export function createDoneMarker(template: string) {
  // Names may contain line breaks, which `.` matches only with the `s` flag.
  const isOf = new RegExp(`^${composed(template).replaceAll(PIECE, patternOf)}$`, 'su');
  const nameIn = (path: string): string | undefined => {
    const base = posix.basename(path);
    return (isOf.exec(base) ?? isOf.exec(composed(base)))?.groups?.['name'];
  };
  return {
    /** The path of the marker for a file. The name on disk may have a different Unicode form. */
    markerOf: (path: string): string => {
      const { dir, name, ext } = posix.parse(path);
      const values: Readonly<Record<string, string>> = { '{name}': name, '.{ext}': ext, '{ext}': ext.slice(1) };
      return posix.join(
        dir,
        template.replaceAll(PIECE, (piece) => values[piece] ?? piece),
      );
    },
    /** Whether a file with this name can be a marker. Markers are never uploaded. */
    isMarker: (path: string): boolean => nameIn(path) !== undefined,
    /** The prefix, up to a dot or the end, shared by all paths that a marker can mark. */
    stemOf: (path: string): string => posix.join(posix.dirname(path), nameIn(path) ?? ''),
  };
}

/** A template word, or a character with a special meaning in a regular expression. */
const PIECE = /\{name\}|\.?\{ext\}|[^\w{}]/gu;

const patterns: Readonly<Record<string, string>> = {
  '{name}': '(?<name>.+)',
  // A file may have no extension.
  '.{ext}': '(?:\\.[^.]*)?',
  '{ext}': '[^.]*',
};

function patternOf(piece: string): string {
  return patterns[piece] ?? `\\u{${piece.codePointAt(0)?.toString(16)}}`;
}

/** Describes what is wrong with the template in a sentence, or returns null. */
export function lintDoneMarker(template: string): string | null {
  if (/[/\\]/u.test(template)) return 'it must be a file name, without a directory';
  const words = [...template.matchAll(/\{([^{}]*)\}/gu)].map(([, word]) => word ?? '');
  const unknown = words.find((word) => word !== 'name' && word !== 'ext');
  if (unknown !== undefined) return `unknown word {${unknown}}; use {name} and {ext}`;
  const literal = template.replaceAll(/\{(name|ext)\}/gu, '');
  if (/[{}]/u.test(literal)) return 'braces are only for {name} and {ext}';
  if (words.filter((word) => word === 'name').length !== 1 || words.filter((word) => word === 'ext').length > 1)
    return 'it needs {name} once, as in "{name}.{ext}.done"';
  if (!/[\p{L}\p{N}]/u.test(literal))
    return 'it would be the name of a video; add something, as in "{name}.{ext}.done"';
  if (template.startsWith('.')) return 'it must not be hidden (start with "."): dropcast ignores hidden files';
  return null;
}
