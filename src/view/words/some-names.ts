/** How many names are enough to recognise a list. */
const mostNamed = 3;

/** The first names of a list. */
export function firstNames<T>(names: readonly T[]): readonly T[] {
  return names.slice(0, mostNamed);
}

/** Pure: `a.mp4, b.mp4, c.mp4 and 57 more`. @param count how many there are in all */
export function someNames(names: readonly string[], count: number): string {
  const shown = firstNames(names);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
