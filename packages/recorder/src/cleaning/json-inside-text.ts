import type { KnownSecrets } from './known-secrets.ts';
import { isSecretName, uploadHeaderFields } from './secret-names.ts';

/**
 * Whether a text contains JSON with a secret field: lines of JSON, JSON inside text, or JSON that breaks off. The end
 * of the value is unknown there.
 * @param redacted names of further secret fields
 */
export function hasHiddenField(text: string, { redacted }: { readonly redacted: ReadonlySet<string> }): boolean {
  const names = text.matchAll(/["']([^"'\\]{1,100})\\*["']\s*:/g);
  return names.some(
    ([, name = '']) =>
      name === 'upload_url' || uploadHeaderFields.has(name) || redacted.has(name) || isSecretName(name),
  );
}

/** Learns the readable part of the texts of fields that are named like secrets. */
export function learnSecretFields(text: string, secrets: KnownSecrets): void {
  // Names are short; a search for the partner of each quote would take too long in a text with many.
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
