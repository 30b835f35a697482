import { digestLength, hashNames } from './checksum-file.ts';
import type { HashName } from './checksum-file.ts';

/** A file in a Media Hash List, with a digest that can be computed. */
export interface ListedHash {
  /** Relative to what the list is about, with `/`. */
  readonly path: string;
  readonly algorithm: HashName;
  /** Hex, lower case. */
  readonly digest: string;
}

/**
 * Reads a Media Hash List: version 1 (`<hash><file>…</file><md5>…`), or ASC MHL 2 (`<hash><path>…</path><md5 …>`). Only what it says
 * of files is taken; a hash that its own writer found wrong is not. Anything else, and what declares entities, has none.
 */
export function parseMediaHashList(text: string): readonly ListedHash[] {
  if (!/<hashlist[\s>]/u.test(text) || /<!(?:DOCTYPE|ENTITY)/iu.test(text)) return [];
  return text.split(/<hash>|<hash\s[^<>]*>/u).flatMap(readHash);
}

/** @param text begins inside the element, and may go on behind it */
function readHash(text: string): ListedHash[] {
  const end = text.indexOf('</hash>');
  const path = elementOf(text.slice(0, end), 'file') ?? elementOf(text.slice(0, end), 'path');
  if (end === -1 || path === null) return [];
  return hashNames.flatMap((algorithm) => {
    const digest = elementOf(text.slice(0, end), algorithm)?.trim().toLowerCase();
    if (digest?.length !== digestLength[algorithm] || !/^[\da-f]+$/u.test(digest)) return [];
    return { path: plain(path), algorithm, digest };
  });
}

function elementOf(text: string, name: string): string | null {
  const [, attributes = '', content = ''] =
    new RegExp(`<${name}((?:\\s[^<>]*)?)>([^<]*)</${name}>`, 'u').exec(text) ?? [];
  return content === '' || /\saction="failed"/u.test(attributes) ? null : content;
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
