/**
 * Normalises a name to Unicode form NFC. macOS writes `ü` as two characters and other systems as one, but both look the
 * same.
 */
export function composed(name: string): string {
  return name.normalize('NFC');
}

/** Normalises a name for comparisons that ignore case and Unicode form. */
export function folded(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The spellings of a name that programs write: unchanged, NFC and NFD. */
export function spellings(name: string): readonly string[] {
  return [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
}
