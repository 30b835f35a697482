/** Pure: the beginning of a sentence. One that begins with an address stays as it is: `Http://` is no address. */
export function capitalised(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Pure: the text as a whole sentence. */
export function wholeSentence(text: string): string {
  const begun = capitalised(text.trim());
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
