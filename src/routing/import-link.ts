import { posix } from 'node:path';
import { quoted } from './text.ts';

/** A file that names a remote address to import instead of holding a video. */
export type ImportLink = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly why: string };

/** Characters. A link file is a few lines; an address longer than this no server takes. */
const MAX_TEXT = 65_536;
const MAX_URL = 4096;

/** Whether a file is a link (`.url`, `.webloc`, in upper or lower case). */
export function isImportLink(path: string): boolean {
  return /\.(?:url|webloc)$/iu.test(path);
}

/**
 * Reads the address out of a link file: a Windows `[InternetShortcut]`, an XML `.webloc`, or one address as plain text. The
 * content decides which, not the name. `why` is one sentence and never shows the address: it may be a signed one.
 */
export function parseImportLink(path: string, text: string): ImportLink {
  const read = readAddress(text);
  return read.ok ? read : { ok: false, why: `the link file ${quoted(posix.basename(path))} ${read.why}` };
}

function readAddress(text: string): ImportLink {
  if (text.startsWith('bplist')) return broken('is a binary property list; save the link as text, or as a .url file');
  if (text.length > MAX_TEXT) return broken(`is longer than a link file can be (${MAX_TEXT} characters)`);
  if (text.includes('\0')) return broken('is not UTF-8 text');
  // White space for `trim` includes the byte order mark.
  const content = text.trim();
  if (content === '') return broken('is empty');
  const addresses = addressesIn(content);
  if (typeof addresses === 'string') return broken(addresses);
  const [address, ...others] = addresses;
  if (address === undefined) return broken('names no address');
  return others.length > 0 ? broken('names more than one address') : checkAddress(address);
}

function broken(why: string): ImportLink {
  return { ok: false, why };
}

/** The addresses as they are written, or why the form cannot be read. */
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

/** No XML parser: the form has one shape, and what is not read cannot be attacked. Entities of its own are refused, not expanded. */
function fromPropertyList(content: string): readonly string[] | string {
  if (/<!ENTITY/iu.test(content)) return 'declares XML entities, which are not read';
  if (!/<plist[\s>]/u.test(content)) return 'is XML, but no property list';
  const found = [...withoutComments(content).matchAll(/<key>URL<\/key>\s*<string>([^<]*)<\/string>/gu)];
  return found.map(([, address = '']) => unescapeXml(address));
}

/** Not by a pattern: on a text full of `<!--` it would take the square of the length. */
function withoutComments(xml: string): string {
  const [before = '', ...comments] = xml.split('<!--');
  return before + comments.map((comment) => comment.split('-->').slice(1).join('-->')).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** One pass, so that `&amp;lt;` stays `&lt;`. */
function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/gu, (entity, name: string) => ENTITIES[name] ?? entity);
}

function checkAddress(written: string): ImportLink {
  const address = written.trim();
  if (address === '') return broken('names no address');
  if (address.length > MAX_URL) return broken(`names an address longer than ${MAX_URL} characters`);
  // The parser would drop tabs and line ends without a word, and so ask for another address than a person reads.
  if (/[\s\p{Cc}]/u.test(address)) return broken('names an address with white space in it');
  const url = URL.parse(address);
  if (url === null) return broken('names no complete address; it must start with https:// or http://');
  if (!['https:', 'http:'].includes(url.protocol)) return broken('names an address that is neither https nor http');
  if (url.username !== '' || url.password !== '') return broken('names an address with a user name or password in it');
  return url.href.length > MAX_URL
    ? broken(`names an address longer than ${MAX_URL} characters`)
    : { ok: true, url: url.href };
}
