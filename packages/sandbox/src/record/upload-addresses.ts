import { randomBytes } from 'node:crypto';
import type { KnownSecrets } from './known-secrets.ts';

/** Where an upload really goes. */
export interface RealAddress {
  readonly url: URL;
  /** As recorded: `/uploads/VIDEO/NUMBER`. */
  readonly name: string;
}

/**
 * Stands between the upload addresses of the service and the program: each gets an address of the recorder. The real ones, which are signed,
 * are in memory alone.
 */
export class UploadAddresses {
  readonly #secrets: KnownSecrets;
  readonly #real = new Map<string, RealAddress>();
  readonly #local = new Map<string, string>();

  constructor(secrets: KnownSecrets) {
    this.#secrets = secrets;
  }

  /** The body of an answer with addresses of the recorder in place of the real ones; the other bytes stay as they are. */
  replaceIn(body: string, origin: string): string {
    return body.replaceAll(
      /("upload_url"\s*:\s*)("(?:[^"\\]|\\.)*")/g,
      (found, name: string, text: string) => this.#replaced(body, name, text, origin) ?? found,
    );
  }

  /** @param path of a request to the recorder, without query */
  find(path: string): RealAddress | undefined {
    return this.#real.get(path);
  }

  #replaced(body: string, name: string, text: string, origin: string): string | undefined {
    const real = URL.parse(String(JSON.parse(text)));
    if (real === null || !['http:', 'https:'].includes(real.protocol)) return undefined;
    return `${name}${JSON.stringify(origin + this.#localOf(real, videoIdIn(body)))}`;
  }

  #localOf(url: URL, videoId: string): string {
    const known = this.#local.get(url.href);
    if (known !== undefined) return known;
    const name = `/uploads/${encodeURIComponent(videoId)}/${this.#real.size + 1}`;
    const path = `${name}-${randomBytes(16).toString('base64url')}`;
    this.#real.set(path, { url, name });
    this.#local.set(url.href, path);
    for (const part of signedPartsOf(url, videoId)) this.#secrets.add('token', part);
    return path;
  }
}

/** Addresses of the recorder as they are recorded: without what only the program knows. */
export function withoutLocalTokens(text: string): string {
  return text.replaceAll(/(\/uploads\/[^/\s"]+\/\d+)-[\w-]{22}/g, '$1');
}

/** Parts of an address that may be what authorises: long ones, but for the id of the video. */
function signedPartsOf(url: URL, videoId: string): readonly string[] {
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), url.password];
  return parts.filter((part) => part.length >= 16 && part !== videoId);
}

/** The id beside the address, bare or in `data`. */
function videoIdIn(body: string): string {
  try {
    const json = JSON.parse(body) as { readonly id?: unknown; readonly data?: { readonly id?: unknown } } | null;
    const id = json?.data?.id ?? json?.id;
    return typeof id === 'string' || typeof id === 'number' ? String(id) : 'unknown';
  } catch {
    return 'unknown';
  }
}
