import { createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { escapeControls } from '../../../log/unsafe-characters.ts';

/**
 * Minimum length of a name to replace in free text. Shorter names are ordinary words and would be replaced everywhere.
 */
const leastStem = 4;

/** Matches a file name in free text, by the extension that follows it. */
const nameInText =
  /[^\s"'=,;:()[\]{}<>/\\]+(?=\.(?:mp4|mov|m4v|mkv|webm|avi|mpg|mpeg|ts|m2ts|mxf|mp3|m4a|wav|flac|yaml|yml|url|webloc|done|md5|sha256)\b)/giu;

/**
 * Replaces file names with meaningless ones, consistently within one bundle. Watched folders and extensions are kept,
 * so that `clip.yaml` is still the sidecar of `clip.mp4`.
 */
export class Pseudonyms {
  readonly #salt = randomBytes(16);
  /** Known texts, replaced wherever they occur → their replacements. */
  readonly #known = new Map<string, string>();
  readonly #folders: readonly string[];

  /** @param folders absolute paths of the watched folders, which are kept */
  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  /** Replaces the parts of a path relative to a folder, and remembers them so that later texts get the same names. */
  path(relative: string): string {
    return relative
      .split('/')
      .map((part) => this.#part(part))
      .join('/');
  }

  /** Replaces the parts of a path below a watched folder. Other paths are unchanged. */
  absolute(path: string): string {
    const folder = this.#folders.find((each) => path.startsWith(`${each}/`));
    return folder === undefined ? path : `${folder}/${this.path(path.slice(folder.length + 1))}`;
  }

  /** Replaces anything written by people: a title, a tag, a description. */
  words(text: string): string {
    const instead = `t-${this.#mark(text)}`;
    this.#know(text, instead);
    return instead;
  }

  /** Replaces all names that can be recognised in free text. */
  text(text: string): string {
    // Known names are replaced first, because a quote in a name would cut the path short.
    const learnt = this.#folders.reduce((rest, folder) => this.#below(rest, folder), this.#withoutKnown(text));
    const replaced = this.#withoutKnown(learnt);
    return replaced.replaceAll(nameInText, (name) => (isOurs(name) ? name : `n-${this.#mark(name)}`));
  }

  #withoutKnown(text: string): string {
    const longestFirst = [...this.#known].toSorted(([one], [other]) => other.length - one.length);
    return longestFirst.reduce((rest, [name, instead]) => rest.replaceAll(name, instead), text);
  }

  /** Replaces paths below a folder. A path ends at a quote or the end of the line. */
  #below(text: string, folder: string): string {
    return text
      .split(`${folder}/`)
      .map((part, index) => {
        if (index === 0) return part;
        const [path = ''] = /^(?:\\.|'(?=\p{L})|[^"'\n`\\])*/u.exec(part) ?? [];
        return this.path(path) + part.slice(path.length);
      })
      .join(`${folder}/`);
  }

  #part(part: string): string {
    const { name, ext } = posix.parse(part);
    if (part === '' || isOurs(name)) return part;
    const instead = `n-${this.#mark(name)}`;
    this.#know(part, `${instead}${ext}`);
    if (name.length >= leastStem) {
      this.#know(name, instead);
      // Templates write the name this way in titles.
      this.#know(name.replaceAll(/[_.]/g, ' '), instead);
    }
    return `${instead}${ext}`;
  }

  #know(text: string, instead: string): void {
    if (text.length < leastStem) return;
    for (const form of [text, escapeControls(text), JSON.stringify(text).slice(1, -1)]) this.#known.set(form, instead);
  }

  #mark(text: string): string {
    return createHmac('sha256', this.#salt).update(text).digest('hex').slice(0, 10);
  }
}

/** Whether a name is a pseudonym, or one of dropcast's own files. */
function isOurs(name: string): boolean {
  return /^(?:n-[0-9a-f]{10}(?:\.[0-9a-z]+)?|\.dropcast|dropcast|config|receipts|failures|ledger|folders)$/i.test(name);
}
