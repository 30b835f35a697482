import { createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { looksSecret } from '../../../config/masked-text.ts';
import { TaggedValue } from '../../../config/raw-tree.ts';
import type { SecretValues } from '../../../log/redaction.ts';
import { allowed } from './allowed-fields.ts';
import type { AllowedFields, Kind } from './allowed-fields.ts';

const SET = '[set]';

/** Lets through only what is known to be harmless. Everything else becomes a pseudonym, or is left out. */
export class AllowList {
  readonly #salt = randomBytes(16);
  readonly #folders: readonly string[];
  readonly #secrets: SecretValues | null;
  readonly #hasNames: boolean;

  /**
   * @param known.folders absolute paths of the watched folders, which are kept
   * @param known.secrets of the configuration, which may be ordinary words; null if it cannot be read
   * @param hasNames whether to keep file names, if the secrets are known and the name holds none
   */
  constructor(
    { folders, secrets }: { readonly folders: readonly string[]; readonly secrets: SecretValues | null },
    hasNames: boolean,
  ) {
    this.#folders = folders;
    this.#secrets = secrets;
    this.#hasNames = hasNames;
  }

  /** Returns what may be shown of an object or a list of objects. */
  show(value: unknown, fields: AllowedFields = allowed.common): unknown {
    return this.#value(value, 'set', fields);
  }

  #value(value: unknown, kind: Kind, fields: AllowedFields): unknown {
    if (value === null || value === undefined) return null;
    if (value instanceof TaggedValue) return `!${value.tag}`;
    if (Array.isArray(value)) return value.map((each) => this.#value(each, kind, fields));
    if (typeof value === 'object') return kind === 'counts' ? this.#counts(value) : this.#object(value, fields);
    if (kind === 'set' || kind === 'counts') return SET;
    if (typeof value === 'string') return this.#text(value, kind);
    return kind === 'plain' || kind === 'echo' ? value : SET;
  }

  #object(value: object, fields: AllowedFields): object {
    const entries = Object.entries(value);
    const shown = entries.flatMap(([key, each]) => {
      const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
      return kind === undefined ? [] : [[key, this.#value(each, kind, fields)] as const];
    });
    const leftOut = entries.length - shown.length;
    return { ...Object.fromEntries(shown), ...(leftOut > 0 && { '[left out]': leftOut }) };
  }

  #counts(value: object): object {
    const numbers = Object.entries(value).filter(([, each]) => typeof each === 'number');
    return Object.fromEntries(numbers.map(([key, each]) => [this.#text(key, 'plain'), each as number]));
  }

  #text(text: string, kind: Kind): string {
    if (kind === 'ours') return text;
    if (kind === 'name') return this.#hasNames && !this.#isKnownSecret(text, kind) ? text : this.#name(text);
    if (kind === 'origin') return URL.canParse(text) ? new URL(text).origin : SET;
    const isSecret = this.#isKnownSecret(text, kind) || (kind !== 'id' && looksSecret(text));
    return isPlain(text) && !isSecret ? text : this.#pseudonym('t', text);
  }

  /** Secrets may be ordinary words. While they are unknown, nothing is shown that may be an echo of one. */
  #isKnownSecret(text: string, kind: Kind): boolean {
    if (this.#secrets === null) return kind === 'echo' || kind === 'name';
    return this.#secrets.redactText(text) !== text;
  }

  /** Replaces each part of a path, so that `clip.yaml` is still the sidecar of `clip.mp4`. */
  #name(path: string): string {
    const folder = this.#folders.find((each) => path === each || path.startsWith(`${each}/`)) ?? '';
    const parts = path.slice(folder.length).split('/');
    return folder + parts.map((part) => this.#part(part)).join('/');
  }

  #part(part: string): string {
    if (/^[*.]*$/.test(part)) return part;
    const { name, ext } = posix.parse(part);
    return this.#pseudonym('n', name) + (/^\.[a-z\d]{1,7}$/i.test(ext) ? ext : '');
  }

  /** A replacement that is the same everywhere in this bundle, and in no other. */
  #pseudonym(prefix: string, text: string): string {
    return `${prefix}-${createHmac('sha256', this.#salt).update(text).digest('hex').slice(0, 10)}`;
  }
}

/** Whether a text has the form of an identifier, a time, a duration or a few words of dropcast's own. */
function isPlain(text: string): boolean {
  return text.length <= 64 && /^[\w.:+[\]-]+(?: [\w.:+[\]-]+){0,5}$/.test(text);
}
