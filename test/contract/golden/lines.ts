import type { Place } from './json-shape.ts';

/** A line of a list. Empty cells at its end are left out. */
export const columns = (...cells: readonly string[]): string => cells.join('  ').trimEnd();

/** A line for each place below the document itself: `ls  files[].size  number`. */
export function placeItems(subject: string, shape: ReadonlyMap<string, Place>): readonly string[] {
  return [...shape]
    .filter(([path]) => path !== '')
    .map(([path, { types, isOptional }]) => columns(subject, path, typeText(types), isOptional ? 'optional' : ''));
}

/** `any` includes all others. */
function typeText(types: ReadonlySet<string>): string {
  return types.has('any') ? 'any' : [...types].toSorted().join('|');
}
