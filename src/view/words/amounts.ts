/** Example: `3.41 GB`. Uses powers of ten, as disks and file managers do. */
export function size(bytes: number): string {
  return inUnits(bytes, 3);
}

/** Example: `20 MB/s`. */
export function rate(bytesPerSecond: number): string {
  return `${inUnits(bytesPerSecond, 2)}/s`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

function inUnits(bytes: number, digits: number): string {
  const rounded = bytes < 1 ? Math.round(bytes) : Number(bytes.toPrecision(digits));
  const step = rounded < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(rounded) / 3));
  const value = Number((rounded / 1_000 ** step).toPrecision(digits));
  return `${step === 0 ? Math.round(value) : value} ${units[step]}`;
}
