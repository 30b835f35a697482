import type { KnownSecrets } from './known-secrets.ts';
import { isSecretName, uploadHeaderFields } from './secret-names.ts';

/**
 * Whether a text contains JSON with a secret field: lines of JSON, JSON inside other text, or truncated JSON. The end
 * of the value cannot be determined there.
 * @param redacted names of additional secret fields
 */
export function hasHiddenField(text: string, { redacted }: { readonly redacted: ReadonlySet<string> }): boolean {
  const names = text.matchAll(/["']([^"'\\]{1,100})\\*["']\s*:/g);
  return names.some(
    ([, name = '']) =>
      name === 'upload_url' || uploadHeaderFields.has(name) || redacted.has(name) || isSecretName(name),
  );
}

/** Registers the readable part of each field whose name denotes a secret. */
export function learnSecretFields(text: string, secrets: KnownSecrets): void {
  // Names are limited in length, because searching for the partner of each quote would take too long in a text with
  // many.
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
