/** Node accepts targets of 16 kB; 100,000 of those in the journal would use much memory. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Whether something of the text was left out. */
export function isShortened(text: string): boolean {
  return text.length > MAX_TEXT;
}

const MAX_TEXT = 300;
