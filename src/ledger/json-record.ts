/** A value that the ledger keeps as JSON for others, who check it. @returns null when the text is damaged: they begin anew then */
export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
