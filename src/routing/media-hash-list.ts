import { UnusableListError, digestOf, hashNames, listBounds, overBound, requirePath } from './checksum-file.ts';
import type { ChecksumLine, ListReader } from './checksum-file.ts';
import { unescapeXml } from './text.ts';

/** A file in a Media Hash List, with a digest whose algorithm dropcast can compute. */
export interface ListedHash extends ChecksumLine {
  /** Path relative to the root of the list, with `/`. */
  readonly name: string;
}

/**
 * Parses a Media Hash List: version 1 (`<hash><file>…</file><md5>…`) or ASC MHL 2 (`<hash><path>…</path><md5 …>`).
 * Ignores directory hashes, and hashes marked as wrong by the tool that wrote the list (`action="failed"`).
 */
export class MediaHashList implements ListReader {
  readonly #found: (hash: ListedHash) => void;
  readonly #comments = new Comments();
  /** Unparsed text. Begins at a tag whose end has not arrived yet. */
  #rest = '';
  #entries = 0;
  #isList = false;
  #isEnded = false;

  constructor(found: (hash: ListedHash) => void) {
    this.#found = found;
  }

  read(piece: string): void {
    this.#rest += this.#comments.removeFrom(piece);
    let at = 0;
    for (;;) {
      const open = this.#rest.indexOf('<', at);
      if (open === -1) return void (this.#rest = '');
      const next = this.#after(open);
      if (next === null) break;
      at = next;
    }
    this.#rest = this.#rest.slice(this.#rest.indexOf('<', at));
    if (this.#rest.length > listBounds.element) throw overBound('an element of', listBounds.element, 'characters');
  }

  end(): void {
    if (!this.#isList) throw new UnusableListError('it is not a Media Hash List (it has no <hashlist>)');
    if (!this.#isEnded || this.#comments.isOpen) throw new UnusableListError('it ends before </hashlist>');
  }

  /** @returns the position after the tag or `<hash>` element that begins here; null if its end has not arrived yet */
  #after(open: number): number | null {
    const text = this.#rest;
    const close = text.indexOf('>', open);
    if (close === -1) return null;
    const [tag = ''] = /^<[/!?]?[^\s<>/]*/u.exec(text.slice(open, Math.min(close + 1, open + LONGEST_TAG))) ?? [];
    if (tag === '<!DOCTYPE' || tag === '<!ENTITY') throw new UnusableListError('it declares a DOCTYPE or entities');
    if (tag === '<hashlist') this.#isList = true;
    if (tag === '</hashlist') this.#isEnded = true;
    if (tag !== '<hash') return close + 1;
    const end = text.indexOf('</hash>', close);
    if (end === -1) return null;
    if (end - open > listBounds.element) throw overBound('an element of', listBounds.element, 'characters');
    this.#readHash(text.slice(close + 1, end));
    return end + '</hash>'.length;
  }

  #readHash(text: string): void {
    this.#entries += 1;
    if (this.#entries > listBounds.entries) throw overBound('', listBounds.entries, 'entries');
    const path = elementOf(text, 'file') ?? elementOf(text, 'path');
    if (path === null || path.content === '') throw new UnusableListError('it has a <hash> without the path of a file');
    const name = requirePath(plain(path.content));
    for (const algorithm of hashNames) {
      const element = elementOf(text, algorithm);
      if (element === null || /\saction=["']failed["']/u.test(element.attributes)) continue;
      this.#found({ name, algorithm, digest: digestOf(algorithm, element.content) });
    }
  }
}

/** Characters of a tag to inspect. The relevant tags are shorter. */
const LONGEST_TAG = 64;

/** Removes XML comments from text that arrives in pieces. */
class Comments {
  isOpen = false;
  /** Unprocessed end of the last piece, kept if a comment delimiter may start there. */
  #rest = '';

  removeFrom(piece: string): string {
    const text = this.#rest + piece;
    const kept: string[] = [];
    let at = 0;
    for (;;) {
      const mark = this.isOpen ? '-->' : '<!--';
      const found = text.indexOf(mark, at);
      if (!this.isOpen) kept.push(text.slice(at, found === -1 ? undefined : found));
      if (found === -1) break;
      at = found + mark.length;
      this.isOpen = !this.isOpen;
    }
    const last = this.isOpen ? text.slice(at) : (kept.pop() ?? '');
    this.#rest = /(?:<!?-?|--?)$/u.exec(last)?.[0] ?? '';
    if (!this.isOpen) kept.push(last.slice(0, last.length - this.#rest.length));
    return kept.join('');
  }
}

interface Element {
  readonly attributes: string;
  readonly content: string;
}

/** Finds an element by name. Its content is empty if it contains anything other than text. */
function elementOf(text: string, name: keyof typeof elements): Element | null {
  const found = elements[name].exec(text);
  if (found === null) return null;
  const [, attributes = '', content = '', end] = found;
  return { attributes, content: end === undefined ? '' : content.trim() };
}

const elements = {
  file: elementNamed('file'),
  path: elementNamed('path'),
  md5: elementNamed('md5'),
  sha1: elementNamed('sha1'),
  sha256: elementNamed('sha256'),
  sha512: elementNamed('sha512'),
};

function elementNamed(name: string): RegExp {
  return new RegExp(`<${name}((?:\\s[^<>]*)?)>([^<]*)(</${name}>)?`, 'u');
}

function plain(path: string): string {
  return unescapeXml(path)
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/u, '');
}
