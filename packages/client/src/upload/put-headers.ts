import { ServiceError } from '../errors.ts';
import { maySend } from '../wire/upload-headers.ts';
import { contentTypeOf } from './content-type.ts';

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
 * Remembers which upload hosts accept a content type, judging by their responses. A host signs its addresses either
 * with a content type or without one, and refuses a PUT of the other kind, even to a fresh address.
 */
export class PutHeaders {
  readonly #known = new Map<string, { readonly isTypeSent: boolean; readonly isProven: boolean }>();

  /** Returns the headers for the next PUT, apart from connection headers. @param origin of the upload address */
  headersFor(origin: string, choice: HeaderChoice): Readonly<Record<string, string>> {
    const type = chosenType(choice);
    const { 'content-type': _, ...headers } = { ...choice.asked, ...lowerCased(choice.own) };
    if (type !== undefined) return { ...headers, ...(type !== null && { 'content-type': type }) };
    const isTypeSent = this.#known.get(origin)?.isTypeSent ?? true;
    return { ...headers, ...(isTypeSent && { 'content-type': contentTypeOf(choice.name) }) };
  }

  /** Records that the origin accepted a body with these headers from `headersFor`. */
  took(origin: string, choice: HeaderChoice, headers: Readonly<Record<string, string>>): void {
    if (chosenType(choice) !== undefined) return;
    this.#remember(origin, { isTypeSent: hasType(headers), isProven: true });
  }

  /**
   * Learns from a refusal of these headers from `headersFor`. Returns true if the same address may accept the body with
   * the headers that `headersFor` now returns: concurrent uploads learn from each other.
   */
  mayTryOthers(
    origin: string,
    choice: HeaderChoice,
    headers: Readonly<Record<string, string>>,
    error: unknown,
  ): boolean {
    if (chosenType(choice) !== undefined || !isSignatureMismatch(error)) return false;
    const known = this.#known.get(origin);
    if (known !== undefined && known.isTypeSent !== hasType(headers)) return true;
    if (known?.isProven === true) return false;
    // After both kinds were refused, uploads use the usual one.
    this.#remember(origin, { isTypeSent: known !== undefined || !hasType(headers), isProven: false });
    return known === undefined;
  }

  #remember(origin: string, known: { readonly isTypeSent: boolean; readonly isProven: boolean }): void {
    if (this.#known.size >= mostOrigins) this.#known.clear();
    this.#known.set(origin, known);
  }
}

function hasType(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type'] !== undefined;
}

/** Maximum number of origins remembered. A service may use a different one for each file. */
const mostOrigins = 1000;

/** Returns the content type that the caller or the create response chose; null: none; undefined: no choice was made. */
function chosenType({ asked, own, contentType }: HeaderChoice): string | null | undefined {
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
