/** Reads a value that the ledger keeps as JSON for another part, which checks it. @returns null when the text is damaged */
export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
