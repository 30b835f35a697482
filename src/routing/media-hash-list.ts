import { digestLength, hashNames } from './checksum-file.ts';
import type { ChecksumLine } from './checksum-file.ts';

/** A file in a Media Hash List, with a digest that can be computed. */
export interface ListedHash extends ChecksumLine {
  /** Relative to what the list is about, with `/`. */
  readonly name: string;
}

/**
 * Reads a Media Hash List: version 1 (`<hash><file>…</file><md5>…`), or ASC MHL 2 (`<hash><path>…</path><md5 …>`). Only
 * hashes of files count, and none that the writer of the list found wrong (`action="failed"`). Anything else, and a text that
 * declares entities, has none.
 */
export function parseMediaHashList(text: string): readonly ListedHash[] {
  if (!/<hashlist[\s>]/u.test(text) || /<!(?:DOCTYPE|ENTITY)/iu.test(text)) return [];
  const said = text.replaceAll(/<!--.*?(?:-->|$)/gsu, '');
  return said.split(/<hash>|<hash\s[^<>]*>/u).flatMap(readHash);
}

/** @param text begins inside the element, and may go on behind it */
function readHash(text: string): ListedHash[] {
  const end = text.indexOf('</hash>');
  if (end === -1) return [];
  const own = text.slice(0, end);
  const path = elementOf(own, 'file') ?? elementOf(own, 'path');
  if (path === null) return [];
  return hashNames.flatMap((algorithm) => {
    const digest = elementOf(own, algorithm)?.trim().toLowerCase();
    if (digest?.length !== digestLength[algorithm] || !/^[\da-f]+$/u.test(digest)) return [];
    return { name: plain(path), algorithm, digest };
  });
}

function elementOf(text: string, name: Element): string | null {
  const [, attributes = '', content = ''] = elements[name].exec(text) ?? [];
  return content === '' || /\saction="failed"/u.test(attributes) ? null : content;
}

type Element = keyof typeof elements;

const elements = {
  file: elementNamed('file'),
  path: elementNamed('path'),
  md5: elementNamed('md5'),
  sha1: elementNamed('sha1'),
  sha256: elementNamed('sha256'),
  sha512: elementNamed('sha512'),
};

function elementNamed(name: string): RegExp {
  return new RegExp(`<${name}((?:\\s[^<>]*)?)>([^<]*)</${name}>`, 'u');
}

function plain(path: string): string {
  return path
    .trim()
    .replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/giu, (found, hex, decimal, name) =>
      decoded(found, hex, decimal, name),
    )
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/u, '');
}

function decoded(found: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return named[name.toLowerCase()] ?? found;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : found;
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
