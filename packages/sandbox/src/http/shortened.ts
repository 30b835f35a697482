/** Shortens a text for the journal. Node accepts targets of 16 kB, and 100,000 of them would use too much memory. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Returns whether part of the text was omitted. */
export function isShortened(text: string): boolean {
  return text.length > MAX_TEXT;
}

const MAX_TEXT = 300;
