import { randomBytes } from 'node:crypto';
import { isLoopbackHost } from '@dropcast/sandbox/loopback';
import type { KnownSecrets } from './cleaning/known-secrets.ts';
import { isSecretName } from './cleaning/hidden.ts';

/** The real address of an upload. */
export interface RealAddress {
  readonly url: URL;
  /** Name in the recording: `/uploads/VIDEO/NUMBER`. */
  readonly name: string;
  /** Query of the local address, which is not passed on. */
  readonly mark: string;
}

/**
 * Replaces the service's upload addresses with addresses of the recorder. The real ones, which are signed, are kept
 * only in memory.
 */
export class UploadAddresses {
  readonly #secrets: KnownSecrets;
  readonly #origin: string;
  readonly #isServiceHere: boolean;
  readonly #real = new Map<string, RealAddress>();
  readonly #local = new Map<string, string>();

  /**
   * @param origin origin of the recorder
   * @param service base address of the service
   */
  constructor(secrets: KnownSecrets, origin: string, service: URL) {
    this.#secrets = secrets;
    this.#isServiceHere = isLoopbackHost(service.hostname);
    this.#origin = origin;
  }

  /** Replaces the real addresses in the body of an answer, leaving all other bytes unchanged. */
  replaceIn(body: Buffer): Buffer {
    // Latin-1 maps each byte to one character.
    const text = body.toString('latin1');
    const replaced = text.replaceAll(
      /("upload_url"\s*:\s*)("(?:[^"\\]|\\.)*")/g,
      (found, name: string, address: string) => this.#replaced(body, name, address) ?? found,
    );
    return replaced === text ? body : Buffer.from(replaced, 'latin1');
  }

  /** @param path path of a request to the recorder, without query */
  find(path: string): RealAddress | undefined {
    return this.#real.get(path);
  }

  /** Returns the name in the recording of a real address that an answer contained. */
  nameOf({ href }: URL): string | undefined {
    const real = this.#real.get(this.#local.get(href) ?? '');
    return real === undefined || real.mark === '' ? real?.name : `${real.name}?${real.mark}`;
  }

  #replaced(body: Buffer, name: string, address: string): string | undefined {
    const url = URL.parse(String(parsed(Buffer.from(address, 'latin1').toString())));
    return url === null || !this.#isSafe(url)
      ? undefined
      : `${name}${JSON.stringify(this.#origin + this.#localOf(url, videoIdIn(body)))}`;
  }

  /**
   * Whether an address may be replaced. Other addresses are left for the program to refuse or follow, as it would
   * without a recorder: a remote service must not make the recorder send to this machine.
   */
  #isSafe({ protocol, hostname }: URL): boolean {
    if (isLoopbackHost(hostname)) return this.#isServiceHere && (protocol === 'https:' || protocol === 'http:');
    return protocol === 'https:';
  }

  #localOf(url: URL, videoId: string): string {
    const known = this.#local.get(url.href);
    if (known !== undefined) return this.#withMark(known);
    const name = `/uploads/${encodeURIComponent(videoId)}/${this.#real.size + 1}`;
    const path = `${name}-${randomBytes(16).toString('base64url')}`;
    this.#real.set(path, { url, name, mark: markOf(url) });
    this.#local.set(url.href, path);
    for (const part of signedPartsOf(url, videoId)) this.#secrets.add('token', part);
    return this.#withMark(path);
  }

  #withMark(path: string): string {
    const mark = this.#real.get(path)?.mark ?? '';
    return mark === '' ? path : `${path}?${mark}`;
  }
}

/** Returns a query by which a program still recognises a resumable session of Google Cloud Storage. */
function markOf({ hostname, searchParams }: URL): string {
  if (!searchParams.has('upload_id')) return '';
  const isStorage = /(?:^|\.)storage\.googleapis\.com$/.test(hostname);
  const isSession = isStorage || searchParams.get('uploadType') === 'resumable';
  return isSession ? 'uploadType=resumable&upload_id=recorded' : '';
}

/** The parts of an upload address that may be recorded: its origin and its stated life in seconds. */
interface UploadPlace {
  readonly origin: string;
  readonly life?: number;
}

/** @param atMs when the address was used, in epoch milliseconds */
export function placeOf({ origin, searchParams }: URL, atMs: number): UploadPlace {
  const life = [...searchParams].map(([name, value]) => lifeIn(name.toLowerCase(), value, atMs)).find(isLife);
  return { origin, ...(life !== undefined && { life }) };
}

/**
 * Reads the life of a signed address: seconds as in S3 and GCS (`X-Amz-Expires`, `X-Goog-Expires`), epoch seconds as in
 * S3 signature version 2 and CloudFront (`Expires`), or a time as in Azure (`se`).
 */
function lifeIn(name: string, value: string, atMs: number): number | undefined {
  if (/^x-(?:amz|goog)-expires$/.test(name)) return Number(value);
  if (name === 'expires' || name === 'exp') return Math.round(Number(value) - atMs / 1000);
  return name === 'se' ? Math.round((Date.parse(value) - atMs) / 1000) : undefined;
}

function isLife(seconds: number | undefined): seconds is number {
  return Number.isInteger(seconds) && (seconds ?? 0) > 0 && (seconds ?? 0) <= longestLifeSeconds;
}

/** A year. A longer life is another kind of number. */
export const longestLifeSeconds = 366 * 86_400;

/** Removes the local tokens from the recorder's addresses, as required for recording. */
export function withoutLocalTokens(text: string): string {
  return text.replaceAll(/(\/uploads\/[^/\s"]+\/\d+)-[\w-]{22}/g, '$1');
}

/**
 * Returns the parts of an address that may be credentials: those with a secret name, the id of a session, and long ones
 * with digits, except the video id.
 */
function signedPartsOf(url: URL, videoId: string): readonly string[] {
  const parameters = [...url.searchParams];
  const named = parameters.flatMap(([name, value]) =>
    (isSecretName(name) || name === 'upload_id') && value !== '' ? [value] : [],
  );
  const parts = [...url.pathname.split('/'), ...parameters.map(([, value]) => value), url.username, url.password];
  const long = parts.filter((part) => part.length >= 16 && /\d/.test(part) && !isNamedAfter(part, videoId));
  return [...named, ...long];
}

function isNamedAfter(part: string, videoId: string): boolean {
  return part === videoId || (part.startsWith(videoId) && /^\.\w{1,5}$/.test(part.slice(videoId.length)));
}

/** Returns the id next to the address, at the top level or in `data`. */
function videoIdIn(body: Buffer): string {
  const json = parsed(body.toString()) as
    | { readonly id?: unknown; readonly data?: { readonly id?: unknown } }
    | null
    | undefined;
  const id = json?.data?.id ?? json?.id;
  return typeof id === 'string' || typeof id === 'number' ? String(id).toWellFormed() : 'unknown';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
