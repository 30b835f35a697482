/** Capitalises the start of a sentence. Leaves a leading address unchanged, because `Http://` is not one. Pure. */
export function capitalised(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Makes a text a complete sentence. Pure. */
export function wholeSentence(text: string): string {
  const begun = capitalised(text.trim());
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
