/** A name in Unicode form NFC: macOS writes `ü` as two characters, other systems as one, and both look the same. */
export function composed(name: string): string {
  return name.normalize('NFC');
}

/** A name for comparisons without regard to case and Unicode form. */
export function folded(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The spellings that programs write: the name as it is, and its Unicode forms NFC and NFD. */
export function spellings(name: string): readonly string[] {
  return [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
}
