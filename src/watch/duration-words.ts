const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** Milliseconds as `3.2 s` below a minute, else as `1 m 20 s`, `2 h 5 m`: the two largest units. */
export function durationWords(ms: number): string {
  if (ms < 59_500) return `${Number((ms / 1_000).toFixed(1))} s`;
  let left = Math.round(ms / 1_000);
  const largest = units.findIndex(([size]) => left >= size);
  const parts = units.slice(largest, largest + 2).map(([size, unit]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? '' : `${count} ${unit}`;
  });
  return parts.join(' ').trim();
}
