/** Number of names shown, enough to recognise a list. */
const mostNamed = 3;

/** Returns the first names of a list. */
export function firstNames<T>(names: readonly T[]): readonly T[] {
  return names.slice(0, mostNamed);
}

/** Example: `a.mp4, b.mp4, c.mp4 and 57 more`. Pure. @param count total number of names */
export function someNames(names: readonly string[], count: number): string {
  const shown = firstNames(names);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
