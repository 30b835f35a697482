import { ServiceError } from '../errors.ts';
import { maySend } from '../wire/upload-headers.ts';
import { contentTypeOf } from './content-type.ts';

/** What decides the headers of a PUT besides those of the connection. */
export interface HeaderChoice {
  /** The name of the file: its extension gives the content type. */
  readonly name: string;
  /** As the create answer asks. */
  readonly asked: Readonly<Record<string, string>>;
  /** Of the caller; they replace those of the answer. */
  readonly own: Readonly<Record<string, string>>;
  /** Undefined: as the answer asks, else by the name. Null: none. */
  readonly contentType: string | null | undefined;
}

/**
 * Which content type upload hosts accept, as far as their answers show. A host signs its addresses with a content type
 * or without one, and refuses a PUT of the other kind, however new the address is.
 */
export class PutHeaders {
  readonly #known = new Map<string, { readonly isTypeSent: boolean; readonly isProven: boolean }>();

  /** The headers of the next PUT, besides those of the connection. @param origin of the upload address */
  headersFor(origin: string, choice: HeaderChoice): Readonly<Record<string, string>> {
    const type = chosenType(choice);
    const { 'content-type': _, ...headers } = { ...choice.asked, ...lowerCased(choice.own) };
    if (type !== undefined) return { ...headers, ...(type !== null && { 'content-type': type }) };
    const isTypeSent = this.#known.get(origin)?.isTypeSent ?? true;
    return { ...headers, ...(isTypeSent && { 'content-type': contentTypeOf(choice.name) }) };
  }

  /** The origin took a body with the headers of `headersFor`. */
  took(origin: string): void {
    this.#remember(origin, { isTypeSent: this.#known.get(origin)?.isTypeSent ?? true, isProven: true });
  }

  /**
   * Learns from a refusal. True at most once for each origin: the same address may take the body with the headers that
   * `headersFor` gives now.
   */
  mayTryOthers(origin: string, choice: HeaderChoice, error: unknown): boolean {
    const known = this.#known.get(origin);
    if (known?.isProven === true || chosenType(choice) !== undefined || !isSignatureMismatch(error)) return false;
    this.#remember(origin, { isTypeSent: known !== undefined, isProven: false });
    return known === undefined;
  }

  #remember(origin: string, known: { readonly isTypeSent: boolean; readonly isProven: boolean }): void {
    if (this.#known.size >= mostOrigins) this.#known.clear();
    this.#known.set(origin, known);
  }
}

/** A service may have an origin for each file. */
const mostOrigins = 1000;

/** The content type that the caller or the answer chose; null: none; undefined: neither chose. */
function chosenType({ asked, own, contentType }: HeaderChoice): string | null | undefined {
  return contentType === undefined ? { ...asked, ...lowerCased(own) }['content-type'] : contentType;
}

/**
 * Whether an upload host refused a PUT because it has other headers than those that its address was signed with. S3, GCS
 * and R2 answer 403 `SignatureDoesNotMatch`; others say it in words. An expired address has other words.
 */
export function isSignatureMismatch(error: unknown): boolean {
  if (!(error instanceof ServiceError) || ![400, 401, 403].includes(error.status ?? 0)) return false;
  const words = `${error.code} ${error.message}`;
  return /signature/i.test(words) && !/expire/i.test(words);
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** @throws {TypeError} a header that no upload may carry, without its value, which may be a secret */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!maySend(name.toLowerCase())) throw new TypeError(`headers: an upload cannot carry ${JSON.stringify(name)}`);
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new TypeError(`headers: ${JSON.stringify(name)} contains a character that no header may have`);
  }
}
