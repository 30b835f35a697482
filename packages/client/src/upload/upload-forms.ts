import { isDeepStrictEqual } from 'node:util';

import type { UploadForm, UploadFormStore } from '../client-options.ts';
import { tell } from '../hooks.ts';
import type { Surroundings } from '../surroundings.ts';
import { originOf } from '../transport/scrub.ts';
import { chosenType, headersOf, isSignatureMismatch } from './put-headers.ts';
import type { HeaderChoice } from './put-headers.ts';
import { isSessionAddress } from './protocols/content-range.ts';
import { strategies } from './protocols/protocols.ts';
import type { ProtocolStrategy, UploadProtocol } from './protocols/protocol.ts';

/** One upload to a host. */
export interface FormChoice extends HeaderChoice {
  readonly url: string;
  /** Protocol of this upload, if the caller, an earlier process or an answer of the host named it. */
  readonly protocol: UploadProtocol | undefined;
}

/** Facts about a host, from its answers. */
interface Known {
  readonly protocol?: UploadProtocol;
  /** Whether the next upload has a content type if neither the caller nor the service named one; default: yes. */
  readonly isTypeSent?: boolean;
  /** Whether the host has accepted a file so. */
  readonly isTypeProven?: boolean;
}

/** Maximum number of origins remembered. A service may use a different one for each file. */
const mostOrigins = 1000;

/** How long uploads wait for the one that finds out what their host takes. A large file may take hours. */
const mostWaitMs = 2_000;

/**
 * Remembers how each upload host takes files, judging by its answers: which protocol it speaks, and whether it accepts
 * a content type. A host signs its addresses either with a content type or without one, and refuses a PUT of the other
 * kind, even to a fresh address.
 */
export class UploadForms {
  readonly #known = new Map<string, Known>();
  /** By origin: ends with the upload that finds out the host's form. */
  readonly #finding = new Map<string, Promise<void>>();
  readonly #store: UploadFormStore | undefined;
  readonly #sleep: Surroundings['sleep'];

  constructor(store: UploadFormStore | undefined, { sleep }: Pick<Surroundings, 'sleep'>) {
    this.#store = store;
    this.#sleep = sleep;
  }

  /**
   * Runs an upload. While the form of its host is unknown, one upload finds it out and the others wait, so that the host
   * does not refuse each of them. They wait until that one ends, for whatever reason, and at most 2 s.
   */
  async found<T>(choice: FormChoice, signal: AbortSignal, upload: () => Promise<T>): Promise<T> {
    const origin = originOf(choice.url);
    const isUnknown = (): boolean => !this.#isCertain(choice);
    const enough = new AbortController();
    const patience = { isOver: false };
    const giveUp = (): void => void (patience.isOver = true);
    let limit: Promise<void> | undefined;
    // Nothing may run between this loop and `set`: the other upload may have ended without a result.
    while (!patience.isOver && isUnknown()) {
      const other = this.#finding.get(origin);
      if (other === undefined) break;
      limit ??= this.#sleep(mostWaitMs, AbortSignal.any([signal, enough.signal])).then(giveUp, giveUp);
      await Promise.race([other, limit]);
    }
    enough.abort();
    if (!isUnknown() || this.#finding.has(origin)) return upload();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#finding.set(origin, promise);
    const end = (): void => {
      if (this.#finding.get(origin) === promise) this.#finding.delete(origin);
      resolve();
    };
    try {
      await this.#load(choice.url);
      if (!isUnknown()) end();
      return await upload();
    } finally {
      end();
    }
  }

  strategyFor(url: string, named: UploadProtocol | undefined, sizeBytes: number): ProtocolStrategy {
    return strategies[named ?? this.#shown(url) ?? 'put'](sizeBytes);
  }

  /** Returns the headers for the next request, apart from connection headers. */
  headersFor(choice: FormChoice): Readonly<Record<string, string>> {
    return headersOf(choice, this.#of(choice.url).isTypeSent ?? true);
  }

  /** Records that a host accepted a file with these headers from `headersFor`. */
  took(choice: FormChoice, headers: Readonly<Record<string, string>>): void {
    const { url, protocol } = choice;
    const known = this.#of(url);
    this.#remember(url, {
      ...known,
      // A protocol that was named, or that the address showed, says nothing about other addresses.
      ...(protocol === undefined && this.#shown(url) === undefined && { protocol: 'put' }),
      ...(chosenType(choice) === undefined && { isTypeSent: hasType(headers), isTypeProven: true }),
    });
  }

  /** Learns that the host speaks another protocol than the one that was used. */
  speaks(url: string, spoken: UploadProtocol): void {
    const { protocol: _, ...known } = this.#of(url);
    // One address that takes only a PUT says little about the others: the next upload finds out.
    this.#remember(url, { ...known, ...(spoken !== 'put' && { protocol: spoken }) });
  }

  /**
   * Learns from a refusal of these headers from `headersFor`. Returns true if the same address may accept the body with
   * the headers that `headersFor` now returns: concurrent uploads learn from each other.
   */
  mayTryOthers(choice: FormChoice, headers: Readonly<Record<string, string>>, error: unknown): boolean {
    if (chosenType(choice) !== undefined || !isSignatureMismatch(error)) return false;
    const { isTypeSent, isTypeProven = false, ...known } = this.#of(choice.url);
    const wasSent = hasType(headers);
    if (isTypeSent === !wasSent) return true;
    // A host may have changed, so even a form that it had accepted is forgotten. After both kinds were refused, each
    // upload tries only one of them, in turn.
    this.#remember(choice.url, { ...known, isTypeSent: !wasSent });
    return isTypeSent === undefined || isTypeProven;
  }

  #of(url: string): Known {
    return this.#known.get(originOf(url)) ?? {};
  }

  /** Returns the protocol that the address or an earlier answer of the host showed. */
  #shown(url: string): UploadProtocol | undefined {
    return isSessionAddress(url) ? 'content-range' : this.#of(url).protocol;
  }

  /** Whether an answer of the host can show nothing new about its form. */
  #isCertain(choice: FormChoice): boolean {
    const protocol = choice.protocol ?? this.#shown(choice.url);
    const isTypeCertain = chosenType(choice) !== undefined || this.#of(choice.url).isTypeProven === true;
    return protocol === 'tus' || (protocol !== undefined && isTypeCertain);
  }

  #remember(url: string, known: Known): void {
    const origin = originOf(url);
    const before = formOf(this.#of(url));
    const form = formOf(known);
    if (this.#known.size >= mostOrigins) this.#known.clear();
    this.#known.set(origin, known);
    if (isDeepStrictEqual(before, form)) return;
    tell('uploadForms.save', () => this.#store?.save(origin, form));
  }

  async #load(url: string): Promise<void> {
    const origin = originOf(url);
    if (this.#known.has(origin)) return;
    const saved = knownOf(await (async () => await this.#store?.load(origin))().catch(() => null));
    if (!this.#known.has(origin)) this.#known.set(origin, saved);
  }
}

/** Returns what is worth saving: how the host differs from the usual. */
function formOf({ protocol = 'put', isTypeSent, isTypeProven }: Known): UploadForm | null {
  const isWithoutType = isTypeProven === true && isTypeSent === false;
  if (protocol === 'put' && !isWithoutType) return null;
  return { ...(protocol !== 'put' && { protocol }), ...(isWithoutType && { withoutType: true }) };
}

function knownOf(saved: unknown): Known {
  const { protocol, withoutType } = (saved ?? {}) as Record<keyof UploadForm, unknown>;
  return {
    ...((protocol === 'tus' || protocol === 'content-range') && { protocol }),
    ...(withoutType === true && { isTypeSent: false, isTypeProven: true }),
  };
}

function hasType(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type'] !== undefined;
}
