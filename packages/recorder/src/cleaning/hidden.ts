/** Replaces a secret text in a recording. */
export const hidden = '[hidden]';

/** Returns the text that replaces a secret and keeps its repeats recognisable: `[hidden key 1]`. */
export function hiddenAs(kind: string, number: number): string {
  return `[hidden ${kind.replaceAll(/[^\w-]/g, '_')} ${number}]`;
}

/**
 * Removes signatures from text. Addresses keep their origin and path and stay valid (RFC 3986): signatures are in the
 * query, a password precedes the host. JSON may escape their slashes. Elsewhere, a parameter is recognised by its name,
 * as in `a=1&token=`. Each character is read only a few times, regardless of the text's length.
 */
export function withoutSignature(text: string): string {
  return text
    .replaceAll(/\b([a-z][\w+.-]{0,20}:(?:\\?\/){2})[^\s/@"'<>]*@/gi, '$1hidden@')
    .replaceAll(/(?:\\?\/){2}[^\s"'<>]*/g, withoutQueries)
    .replaceAll(/(?<![\w-])([\w-]{1,100})((?:\]|%5D)?=)[^\s&;,"'<>]+/gi, (pair, name: string, equals: string) =>
      isSecretName(name) ? name + equals + hidden : pair,
    );
}

/** Hides the queries in texts that are addresses, with or without a host. */
export function withoutQueries(text: string): string {
  return text.replaceAll(/\?[^\s"'<>]*/g, '?hidden');
}

/** Whether part of the text was hidden. */
export function hasHidden(text: string): boolean {
  return marks.test(text);
}

/** Whether a recorded text with hidden parts could be the given text. */
export function fits(recorded: string, text: string): boolean {
  const parts = recorded.split(marks);
  if (parts.length === 1) return recorded === text;
  const [first = '', ...others] = parts;
  const last = others.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

const marks = /\[hidden(?: [\w-]+ \d+)?\]|(?<=\?)hidden\b|(?<=:\/\/)hidden(?=@)/;

/** Whether the name of a field, parameter or header denotes a secret. */
export function isSecretName(name: string): boolean {
  return (
    /secret|token|passw|passphrase|signature|credential|session[-_]?id|authorization|jwt|^(?:sig|key|pwd|pass)$/i.test(
      name,
    ) || /(?:api|access|auth|private|signing|stream|client|encryption)[-_]?key/i.test(name)
  );
}

/** Fields that contain the upload headers in the answer to a creation. */
export const uploadHeaderFields: ReadonlySet<string> = new Set([
  'upload_headers',
  'required_headers',
  'headers',
  'uploadHeaders',
  'requiredHeaders',
]);
