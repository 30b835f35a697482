import type { KnownSecrets } from './known-secrets.ts';
import { isSecretName } from './secret-names.ts';

/** Hides fields that are named like secrets in a text that is not JSON as a whole: several lines of it, or JSON that breaks off. */
export function withoutSecretFields(text: string, secrets: KnownSecrets): string {
  return text.replaceAll(
    // A name has an end soon: a search for each quote's partner would take too long in a text with many.
    /"((?:[^"\\]|\\.){1,60})"(\s*:\s*")((?:[^"\\]|\\.)+)/gs,
    (found, name: string, between: string, value: string) =>
      isSecretName(plain(name)) ? `"${name}"${between}${secrets.add('secret', plain(value))}` : found,
  );
}

function plain(escaped: string): string {
  try {
    return String(JSON.parse(`"${escaped}"`));
  } catch {
    return escaped;
  }
}
