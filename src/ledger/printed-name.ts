import { escapeControls } from '../log/unsafe-characters.ts';

/** A name as a table prints it: what is unsafe is escaped, and `…` stands for what had no room. */
export interface PrintedName {
  /** A LIKE pattern, with `\` as its escape, that finds all it may mean and more. */
  readonly like: string;
  /** @param path absolute */
  isOf(path: string): boolean;
}

/** @returns null when a table would print no other name so */
export function printedName(text: string): PrintedName | null {
  if (!text.includes('…') && !text.includes('\\')) return null;
  // A relative name may begin anywhere below the folder.
  const start = text.startsWith('/') ? '' : '/';
  const pieces = `${start}${text}`.split('…');
  return {
    like: `${start === '' ? '' : '%'}${pieces.map((piece, n) => likePiece(piece, n > 0)).join('%')}`,
    isOf: (path) => {
      const printed = escapeControls(path);
      return start === '' ? isIn(printed, pieces, 0) : slashesOf(printed).some((at) => isIn(printed, pieces, at));
    },
  };
}

/** The plain part of a piece: an escape sequence may be anything. After a cut, up to five characters may be the rest of one. */
function likePiece(piece: string, isCutBefore: boolean): string {
  const plain = piece.replaceAll(/\\(?:x[0-9a-f]{0,2}|u[0-9a-f]{0,4}|[nrt])?/g, '\0');
  return (isCutBefore ? plain.replace(/^[^\0]{1,5}/u, '\0') : plain)
    .replaceAll(/[%_]/g, String.raw`\$&`)
    .replaceAll('\0', '%');
}

/** Whether a text has the pieces in their order, from one place to its end. */
function isIn(text: string, [first = '', ...others]: readonly string[], from: number): boolean {
  if (!text.startsWith(first, from)) return false;
  const last = others.pop();
  if (last === undefined) return text.length === from + first.length;
  let at = from + first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}

function slashesOf(text: string): readonly number[] {
  return [...text.matchAll(/\//g)].map(({ index }) => index);
}
