import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import pLimit from 'p-limit';
import type { Events, SandboxEvent } from '../events.ts';
import { BackgroundWork } from '../background-work.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { isLoopbackHost } from '../loopback.ts';
import { storageTroubleOf } from '../store/storage-trouble.ts';
import type { VideoStore } from '../store/videos.ts';
import type { Acceptance } from './acceptance.ts';
import { receiveFile } from './receive.ts';

interface ImportParts {
  readonly videos: VideoStore;
  readonly lifecycle: Lifecycle;
  readonly acceptance: Acceptance;
  readonly events: Events;
  readonly incoming: string;
  readonly importFrom: 'loopback' | 'anywhere';
  readonly onDefect: (error: unknown) => void;
}

/** Thrown when a source_url cannot be imported. The message becomes the video's `error`. */
class ImportError extends Error {}

/**
 * Fetches videos from their source_url (api-spec sections 1 and 2.1), a few at a time. Fetches only from this machine
 * unless configured otherwise, so that the sandbox is not a way to reach other hosts. The same rule applies to
 * redirects.
 */
export class Importer {
  readonly #parts: ImportParts;
  readonly #limit = pLimit(AT_ONCE);
  readonly #running: BackgroundWork;
  /** Controllers that abort each running or waiting import, by video id. */
  readonly #stops = new Map<string, AbortController>();
  readonly #endListening: () => void;
  #isClosed = false;

  /**
   * Listens to events immediately. Imports begin with `start` and `resume`; `close` ends the imports and the listening.
   */
  constructor(parts: ImportParts) {
    this.#parts = parts;
    this.#running = new BackgroundWork(parts.onDefect);
    this.#endListening = parts.events.listen((event) => this.#hear(event));
  }

  /** Resumes imports that an earlier process did not finish. */
  resume(): void {
    for (const { id, sourceUrl } of this.#parts.videos.awaitingImport())
      if (sourceUrl !== null) this.start(id, sourceUrl);
  }

  start(videoId: string, sourceUrl: string): void {
    if (this.#isClosed) return; // the port is still open briefly
    const stop = new AbortController();
    this.#stops.set(videoId, stop);
    const { era } = this.#parts.acceptance;
    const isOver = () => this.#stops.get(videoId) === stop && this.#stops.delete(videoId);
    const work = this.#limit(() => this.#import(videoId, sourceUrl, { signal: stop.signal, era }));
    this.#running.track(work.finally(isOver));
  }

  /** Aborts running imports; their videos stay pending for `resume`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endListening();
    this.#stopAll();
    await this.#running.finished();
  }

  /**
   * Aborts an import whose video was deleted or has received its file by upload: an endless source would fill the disk.
   */
  #hear({ type, id }: SandboxEvent): void {
    if (type === 'video.deleted' || type === 'video.processing') this.#stops.get(id)?.abort();
    if (type === 'reset') this.#stopAll();
  }

  #stopAll(): void {
    for (const stop of this.#stops.values()) stop.abort();
  }

  async #import(videoId: string, sourceUrl: string, { signal, era }: Begun): Promise<void> {
    const { lifecycle, acceptance, incoming, importFrom } = this.#parts;
    try {
      signal.throwIfAborted();
      const body = await fetchFrom(new URL(sourceUrl), { importFrom, signal });
      await acceptance.accept(videoId, await receiveFile(body, incoming), era);
    } catch (error) {
      if (signal.aborted || era !== acceptance.era) return;
      lifecycle.fail(videoId, { code: 'import_failed', message: reasonOf(error) });
    }
  }
}

/** The era in which an import began, and the signal that aborts it. */
interface Begun {
  readonly signal: AbortSignal;
  /** The era according to `Acceptance`. */
  readonly era: number;
}

/** Limit on concurrent imports: a thousand sources at once would need a thousand connections and files. */
const AT_ONCE = 16;
const MAX_REDIRECTS = 5;
const IDLE_MS = 30_000;

interface FetchOptions extends Pick<ImportParts, 'importFrom'> {
  readonly signal: AbortSignal;
}

async function fetchFrom(url: URL, options: FetchOptions, redirectsLeft = MAX_REDIRECTS): Promise<IncomingMessage> {
  if (options.importFrom === 'loopback' && !isLoopbackHost(url.hostname))
    throw new ImportError(
      'The sandbox imports from this machine only. Start it with --import-from anywhere to allow other hosts.',
    );
  const response = await requested(url, options.signal);
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return response;
  response.destroy();
  const target = status >= 300 && status < 400 ? URL.parse(response.headers.location ?? '', url) : null;
  if (!target || !['http:', 'https:'].includes(target.protocol))
    throw new ImportError(`source_url answered with status ${status}.`);
  if (redirectsLeft === 0) throw new ImportError('source_url redirects too many times.');
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
  if (storageTroubleOf(error)?.isFull) return 'The sandbox has no disk space left.';
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `source_url could not be read: ${code}.`;
}
