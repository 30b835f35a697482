/** The lines in which two texts differ, as diff(1) marks them: `- ` only in the first, `+ ` only in the second. For small files. */
export function differenceOf(before: string, after: string): readonly string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const common = commonLengths(old, now);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) [i, j] = [i + 1, j + 1];
    else if (j >= now.length || (i < old.length && lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1)))
      lines.push(`- ${old[i++] ?? ''}`);
    else lines.push(`+ ${now[j++] ?? ''}`);
  }
  return lines.filter((line) => line.trim() !== '-' && line.trim() !== '+');
}

/** How many lines the rest of both texts have in common, from each pair of lines on. */
function commonLengths(old: readonly string[], now: readonly string[]): readonly (readonly number[])[] {
  const table = Array.from({ length: old.length + 1 }, () => Array.from({ length: now.length + 1 }, () => 0));
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = table[i] as number[];
      row[j] =
        old[i] === now[j]
          ? lengthAt(table, i + 1, j + 1) + 1
          : Math.max(lengthAt(table, i + 1, j), lengthAt(table, i, j + 1));
    }
  return table;
}

function lengthAt(table: readonly (readonly number[])[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
