import { createHash } from 'node:crypto';
import type { CapturedBody } from './passing/body-capture.ts';
import type { ReceivedHeaders } from './cleaning/clean-headers.ts';
import { cleanMessage, cleanTarget, withoutKnown } from './cleaning/clean-message.ts';
import { KnownSecrets } from './cleaning/known-secrets.ts';
import type { RecordedExchange } from './recording.ts';
import { placeOf, UploadAddresses } from './upload-addresses.ts';

/** A request and its answer as a client sent and received them, with their secrets. */
interface SeenExchange {
  /** When the request was sent, in epoch milliseconds. */
  readonly at: number;
  /** Time until the end of the answer, in milliseconds. */
  readonly ms: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Text of the request; missing for a file. */
  readonly requestBody?: string;
  readonly interim: readonly number[];
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/**
 * Records the exchanges between a client in this process and a service, in memory and without secrets. They are the
 * same as those of a recorder, but no recorder in between can change what the two do.
 */
export class Observation {
  readonly #base: string;
  readonly #cleaning = { secrets: new KnownSecrets(), redacted: new Set<string>() };
  readonly #addresses: UploadAddresses;
  readonly #exchanges: RecordedExchange[] = [];

  /** @param baseUrl base address of the service, with its version */
  constructor(baseUrl: string) {
    this.#base = baseUrl.replace(/\/+$/, '');
    this.#addresses = new UploadAddresses(this.#cleaning.secrets, 'http://127.0.0.1', new URL(baseUrl));
  }

  /** The exchanges so far, in the order of their answers. */
  get exchanges(): readonly RecordedExchange[] {
    return this.#exchanges;
  }

  note(seen: SeenExchange): void {
    const url = new URL(seen.url);
    const body = this.#addresses.replaceIn(Buffer.from(seen.body));
    const upload = this.#uploadName(url);
    const cleaning = { ...this.#cleaning, isUpload: upload !== undefined };
    const exchange = {
      target: cleanTarget(upload ?? `/v1${seen.url.slice(this.#base.length)}`, cleaning),
      request: cleanMessage(received(seen.requestHeaders), captured(Buffer.from(seen.requestBody ?? '')), cleaning),
      answer: { status: seen.status, ...cleanMessage(received(seen.headers), captured(body), cleaning) },
      ...(seen.interim.length > 0 && { interim: [...seen.interim] }),
      ...(upload !== undefined && { upload: placeOf(url, seen.at) }),
    };
    this.#exchanges.push({
      kind: 'exchange',
      number: this.#exchanges.length + 1,
      at: new Date(seen.at).toISOString(),
      ms: Math.round(seen.ms),
      method: seen.method,
      ...(withoutKnown(exchange, this.#cleaning.secrets) as typeof exchange),
    });
  }

  /** Names an upload address; undefined for the API. An address that no answer contained has no video. */
  #uploadName(url: URL): string | undefined {
    const isApi = url.href === this.#base || url.href.startsWith(`${this.#base}/`);
    return this.#addresses.nameOf(url) ?? (isApi ? undefined : '/uploads/unknown/0');
  }
}

function received(headers: NodeJS.Dict<string | string[]>): ReceivedHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat()]));
}

function captured(bytes: Buffer): CapturedBody {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), text: bytes.toString() };
}
