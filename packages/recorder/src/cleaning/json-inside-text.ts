import type { KnownSecrets } from './known-secrets.ts';
import { isSecretName } from './secret-names.ts';

/**
 * Whether a text holds JSON with a field that nobody may read: lines of JSON, JSON inside a text, or JSON that breaks off. Where its value ends
 * is not known there.
 * @param redacted names of further such fields
 */
export function hasHiddenField(text: string, { redacted }: { readonly redacted: ReadonlySet<string> }): boolean {
  const names = text.matchAll(/["']([^"'\\]{1,100})\\*["']\s*:/g);
  return names.some(([, name = '']) => name === 'upload_url' || redacted.has(name) || isSecretName(name));
}

/** Learns the texts of such fields that are named like secrets, as far as they go. */
export function learnSecretFields(text: string, secrets: KnownSecrets): void {
  // A name has an end soon: a search for each quote's partner would take too long in a text with many.
  const fields = text.matchAll(/"((?:[^"\\]|\\.){1,60})"\s*:\s*"((?:[^"\\]|\\.)+)/gs);
  for (const [, name = '', value = ''] of fields) if (isSecretName(plain(name))) secrets.add('secret', plain(value));
}

function plain(escaped: string): string {
  try {
    return String(JSON.parse(`"${escaped}"`));
  } catch {
    return escaped;
  }
}
