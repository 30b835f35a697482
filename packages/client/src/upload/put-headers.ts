import { extname } from 'node:path';

import { ServiceError } from '../errors.ts';
import { maySend } from '../wire/upload-headers.ts';

/** Inputs that determine the headers of a PUT, apart from connection headers. */
export interface HeaderChoice {
  /** File name, whose extension determines the content type. */
  readonly name: string;
  /** Headers requested in the create response. */
  readonly asked: Readonly<Record<string, string>>;
  /** The caller's headers, which override those requested in the create response. */
  readonly own: Readonly<Record<string, string>>;
  /** Content type; null for none. Undefined: the one requested in the create response, otherwise by file extension. */
  readonly contentType: string | null | undefined;
}

/**
 * Returns the headers of a PUT, apart from connection headers.
 * @param isTypeSent whether it has a content type if neither the caller nor the create response chose one
 */
export function headersOf(choice: HeaderChoice, isTypeSent: boolean): Readonly<Record<string, string>> {
  const chosen = chosenType(choice);
  const type = chosen === undefined && isTypeSent ? contentTypeOf(choice.name) : chosen;
  const { 'content-type': _, ...headers } = { ...choice.asked, ...lowerCased(choice.own) };
  return { ...headers, ...(typeof type === 'string' && { 'content-type': type }) };
}

/** Returns the content type that the caller or the create response chose; null: none; undefined: no choice was made. */
export function chosenType({ asked, own, contentType }: HeaderChoice): string | null | undefined {
  return contentType === undefined ? { ...asked, ...lowerCased(own) }['content-type'] : contentType;
}

/**
 * Whether an upload host refused a PUT because its headers differ from those that the address was signed with. S3, GCS
 * and R2 answer 403 `SignatureDoesNotMatch`; others mention the signature in the message. Expired addresses are
 * excluded.
 */
export function isSignatureMismatch(error: unknown): boolean {
  if (!(error instanceof ServiceError) || ![400, 401, 403].includes(error.status ?? 0)) return false;
  const words = `${error.code} ${error.message}`;
  return /signature/i.test(words) && !/expire/i.test(words);
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** @throws {TypeError} an upload must not carry this header; the message omits its value, which may be a secret */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!maySend(name.toLowerCase())) throw new TypeError(`headers: an upload cannot carry ${JSON.stringify(name)}`);
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new TypeError(`headers: ${JSON.stringify(name)} contains a character that no header may have`);
  }
}

/** Content types of common media formats. Any other file is sent as plain bytes, and the service detects its format. */
const types: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.m4v': 'video/x-m4v',
  '.mov': 'video/quicktime',
  '.mkv': 'video/x-matroska',
  '.webm': 'video/webm',
  '.avi': 'video/x-msvideo',
  '.mpg': 'video/mpeg',
  '.mpeg': 'video/mpeg',
  '.ts': 'video/mp2t',
  '.m2ts': 'video/mp2t',
  '.mxf': 'application/mxf',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.wav': 'audio/wav',
  '.flac': 'audio/flac',
};

/** Returns the `Content-Type` for a file name's extension; `application/octet-stream` if the extension is unknown. */
function contentTypeOf(path: string): string {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(types, extension)
    ? (types[extension] ?? 'application/octet-stream')
    : 'application/octet-stream';
}
