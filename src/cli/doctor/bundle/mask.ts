import { maskedText } from '../../../config/masked-text.ts';
import { SecretValues } from '../../../log/redaction.ts';
import { Pseudonyms } from './pseudonyms.ts';

/** Makes text safe for a report that others will read. */
export interface Mask {
  /** Masks free text, whose content is unknown. */
  text(text: string): string;
  /** Masks the text of a configuration. */
  config(text: string): string;
  /** Masks an absolute path in a watched folder. */
  path(path: string): string;
  /** Masks a path relative to a watched folder. */
  relative(path: string): string;
  /** Masks text written by people, such as titles and tags. */
  words(text: string): string;
}

/**
 * @param known.secrets values that must not appear anywhere
 * @param known.folders absolute paths of the watched folders
 * @param hasNames whether to keep file names
 */
export function createMask(
  known: { readonly secrets: readonly string[]; readonly folders: readonly string[] },
  hasNames: boolean,
): Mask {
  const secrets = new SecretValues();
  for (const value of known.secrets) secrets.add(value);
  const names = new Pseudonyms(known.folders);
  const safe = (text: string): string => withoutPeople(secrets.redactText(text));
  return {
    text: (text) => safe(hasNames ? text : names.text(text)),
    config: (text) => safe(maskedText(text).text),
    path: (path) => (hasNames ? path : names.absolute(path)),
    relative: (path) => (hasNames ? path : names.path(path)),
    words: (text) => (hasNames ? safe(text) : names.words(text)),
  };
}

function withoutPeople(text: string): string {
  return text.replaceAll(/[\w.+-]{1,64}@(?=[\w-]+\.)[\w.-]+/g, '[address]');
}
