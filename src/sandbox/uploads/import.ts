import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { InFlight } from '../in-flight.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { VideoStore } from '../store/videos.ts';
import { receiveFile } from './receive.ts';

export interface ImportParts {
  readonly videos: VideoStore;
  readonly lifecycle: Lifecycle;
  readonly incoming: string;
  readonly importFrom: 'loopback' | 'anywhere';
  readonly onDefect: (error: unknown) => void;
}

/** A source_url that cannot be imported; the message is what the video's `error` says. */
class ImportError extends Error {}

/**
 * Fetches videos from their source_url (api-spec sections 1 and 2.1). Only from this machine, unless it
 * was allowed: the sandbox must not be a way to reach other hosts. Redirects are followed under the same rule.
 */
export class Importer {
  readonly #parts: ImportParts;
  readonly #stop = new AbortController();
  readonly #running: InFlight;

  constructor(parts: ImportParts) {
    this.#parts = parts;
    this.#running = new InFlight(parts.onDefect);
  }

  /** Takes up what an earlier process did not finish. */
  resume(): void {
    for (const { id, sourceUrl } of this.#parts.videos.awaitingImport())
      if (sourceUrl !== null) this.start(id, sourceUrl);
  }

  start(videoId: string, sourceUrl: string): void {
    this.#running.track(this.#import(videoId, sourceUrl));
  }

  /** Breaks off what is running; it stays pending, for `resume`. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running.settled();
  }

  async #import(videoId: string, sourceUrl: string): Promise<void> {
    const { lifecycle, incoming, importFrom } = this.#parts;
    const { era } = lifecycle;
    try {
      const body = await fetchFrom(new URL(sourceUrl), { importFrom, signal: this.#stop.signal });
      await lifecycle.accept(videoId, await receiveFile(body, incoming), era);
    } catch (error) {
      if (this.#stop.signal.aborted || era !== lifecycle.era) return;
      lifecycle.fail(videoId, { code: 'import_failed', message: reasonOf(error) });
    }
  }
}

const MAX_REDIRECTS = 5;
const IDLE_MS = 30_000;

interface FetchOptions extends Pick<ImportParts, 'importFrom'> {
  readonly signal: AbortSignal;
}

async function fetchFrom(url: URL, options: FetchOptions, redirectsLeft = MAX_REDIRECTS): Promise<IncomingMessage> {
  if (options.importFrom === 'loopback' && !isLoopbackHost(url.hostname))
    throw new ImportError('The sandbox imports from this machine only, not from other hosts.');
  const response = await requested(url, options.signal);
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return response;
  response.destroy();
  const target = status >= 300 && status < 400 ? URL.parse(response.headers.location ?? '', url) : null;
  if (!target || !['http:', 'https:'].includes(target.protocol))
    throw new ImportError(`source_url answered with status ${status}.`);
  if (redirectsLeft === 0) throw new ImportError('source_url redirects too often.');
  return fetchFrom(target, options, redirectsLeft - 1);
}

function requested(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal, timeout: IDLE_MS }, resolve);
    request.on('timeout', () => request.destroy(new ImportError('source_url stopped sending.')));
    request.on('error', reject);
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof ImportError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `source_url could not be read: ${code}.`;
}
