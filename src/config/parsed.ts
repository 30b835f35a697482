/** The value of a setting, or the mistake in its text. Messages never repeat a text that may contain a secret. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

export function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
