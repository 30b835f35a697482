/**
 * The known word that was probably meant, or null. At most a third of the word may differ (one letter is always
 * allowed). The threshold is strict because a wrong suggestion is worse than none.
 */
export function didYouMean(word: string, known: readonly string[]): string | null {
  if (word.length > 50) return null;
  const limit = Math.max(1, Math.floor(plain(word).length / 3));
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(plain(word), plain(name));
    const isClose = distance <= limit && distance < Math.min(word.length, name.length);
    if (isClose && (best === null || distance < best.distance)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** Normalises a word for comparison: ignores case, `-` and `_`. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Counts insertions, deletions, replacements and swaps of adjacent letters (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const options = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) options.push((beforeLast[j - 2] ?? 0) + 1);
      row.push(Math.min(...options));
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
