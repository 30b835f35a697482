import { createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { escapeControls } from '../../../log/unsafe-characters.ts';

/** Shorter parts of names are ordinary words, and would be replaced everywhere. */
const leastStem = 4;

/** The ending of one of our names. */
const nameInText =
  /[^\s"'=,;:()[\]{}<>/\\]+(?=\.(?:mp4|mov|m4v|mkv|webm|avi|mpg|mpeg|ts|m2ts|mxf|mp3|m4a|wav|flac|yaml|yml|url|webloc|done|md5|sha256)\b)/giu;

/**
 * Replaces file names by others that tell nothing: the same name always by the same one, within one bundle. Folders
 * stay folders and extensions stay, so that `clip.yaml` is still the sidecar of `clip.mp4`.
 */
export class Pseudonyms {
  readonly #salt = randomBytes(16);
  /** Texts that are replaced wherever they occur → what replaces them. */
  readonly #known = new Map<string, string>();
  readonly #folders: readonly string[];

  /** @param folders absolute paths of the watched folders, which stay as they are */
  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  /** A path relative to a folder. From then on its parts are replaced in every text. */
  path(relative: string): string {
    return relative
      .split('/')
      .map((part) => this.#part(part))
      .join('/');
  }

  /** A path that may begin with a watched folder. */
  absolute(path: string): string {
    const folder = this.#folders.find((each) => path.startsWith(`${each}/`));
    return folder === undefined ? path : `${folder}/${this.path(path.slice(folder.length + 1))}`;
  }

  /** A title, a tag, a description: anything that people wrote. */
  words(text: string): string {
    const instead = `t-${this.#mark(text)}`;
    this.#know(text, instead);
    return instead;
  }

  /** Free text. */
  text(text: string): string {
    // Known names come first, because a quote in a name would cut the path short.
    const learnt = this.#folders.reduce((rest, folder) => this.#below(rest, folder), this.#withoutKnown(text));
    const replaced = this.#withoutKnown(learnt);
    return replaced.replaceAll(nameInText, (name) => (isOurs(name) ? name : `n-${this.#mark(name)}`));
  }

  #withoutKnown(text: string): string {
    const longestFirst = [...this.#known].toSorted(([one], [other]) => other.length - one.length);
    return longestFirst.reduce((rest, [name, instead]) => rest.replaceAll(name, instead), text);
  }

  /** The text after a folder, up to a quote or the end of the line, is a path. */
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
      // As templates write it into titles.
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

/** Made here, or by dropcast itself. */
function isOurs(name: string): boolean {
  return /^(?:n-[0-9a-f]{10}(?:\.[0-9a-z]+)?|\.dropcast|dropcast|config|receipts|failures|ledger|folders)$/i.test(name);
}
