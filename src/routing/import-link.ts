import { posix } from 'node:path';
import { quoted, unescapeXml } from './text.ts';

/** The remote address in a link file, which is imported instead of a local video. */
export type ImportLink = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly why: string };

/** Maximum size in characters. A link file has only a few lines, and no server accepts a longer address. */
const MAX_TEXT = 65_536;
const MAX_URL = 4096;

/** Whether a file is a link (`.url` or `.webloc`, in any case). */
export function isImportLink(path: string): boolean {
  return /\.(?:url|webloc)$/iu.test(path);
}

/**
 * Parses the address in a link file: a Windows `[InternetShortcut]`, an XML `.webloc`, or a single address as plain
 * text. The format is detected from the content, not the name. `why` is one sentence and never shows the address, which
 * may be signed.
 */
export function parseImportLink(path: string, text: string): ImportLink {
  const read = readAddress(text);
  return read.ok ? read : { ok: false, why: `the link file ${quoted(posix.basename(path))} ${read.why}` };
}

function readAddress(text: string): ImportLink {
  if (text.startsWith('bplist')) return broken('is a binary property list; save the link as text, or as a .url file');
  if (text.length > MAX_TEXT) return broken(`is longer than ${MAX_TEXT} characters, the maximum for a link file`);
  if (text.includes('\0')) return broken('is not UTF-8 text');
  // `trim` also removes the byte order mark.
  const content = text.trim();
  if (content === '') return broken('is empty');
  const addresses = addressesIn(content);
  if (typeof addresses === 'string') return broken(addresses);
  const [address, ...others] = addresses;
  if (address === undefined) return broken('contains no address');
  return others.length > 0 ? broken('contains more than one address; keep one') : checkAddress(address);
}

function broken(why: string): ImportLink {
  return { ok: false, why };
}

/** Returns the addresses as written, or the reason why the format is invalid. */
function addressesIn(content: string): readonly string[] | string {
  if (content.startsWith('<')) return fromPropertyList(content);
  if (/^\[InternetShortcut\]\s*$/imu.test(content)) return fromShortcut(content);
  if (content.startsWith('[')) return 'has no [InternetShortcut] section';
  return content.split(/\r\n?|\n/u).filter((line) => line.trim() !== '');
}

function fromShortcut(content: string): string[] {
  const addresses: string[] = [];
  let isInside = false;
  for (const line of content.split(/\r\n?|\n/u)) {
    if (line.startsWith('[')) isInside = /^\[InternetShortcut\]\s*$/iu.test(line);
    const address = /^\s*URL\s*=(.*)$/iu.exec(line)?.[1];
    if (isInside && address !== undefined) addresses.push(address);
  }
  return addresses;
}

/**
 * Reads an XML property list without an XML parser: the format has a fixed shape, and unexpanded entities are harmless.
 * Rejects custom entities.
 */
function fromPropertyList(content: string): readonly string[] | string {
  if (/<!ENTITY/iu.test(content)) return 'declares XML entities, which dropcast does not expand';
  if (!/<plist[\s>]/u.test(content)) return 'is XML but not a property list';
  const found = [...withoutComments(content).matchAll(/<key>URL<\/key>\s*<string>([^<]*)<\/string>/gu)];
  return found.map(([, address = '']) => unescapeXml(address));
}

/** Removes XML comments. A regular expression would take quadratic time on a text full of `<!--`. */
function withoutComments(xml: string): string {
  const [before = '', ...comments] = xml.split('<!--');
  return before + comments.map((comment) => comment.split('-->').slice(1).join('-->')).join('');
}

function checkAddress(written: string): ImportLink {
  const address = written.trim();
  if (address === '') return broken('contains no address');
  if (address.length > MAX_URL) return broken(`contains an address longer than ${MAX_URL} characters`);
  // The URL parser silently drops tabs and line breaks, so it would request a different address from the one people
  // see.
  if (/[\s\p{Cc}]/u.test(address)) return broken('contains an address with white space');
  const url = URL.parse(address);
  if (url === null) return broken('contains no complete address; it must start with https:// or http://');
  if (!['https:', 'http:'].includes(url.protocol)) return broken('contains an address that is neither https nor http');
  if (url.username !== '' || url.password !== '')
    return broken('contains an address with a user name or password; remove them');
  return url.href.length > MAX_URL
    ? broken(`contains an address longer than ${MAX_URL} characters`)
    : { ok: true, url: url.href };
}
