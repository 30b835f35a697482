import { AsyncLocalStorage } from 'node:async_hooks';
import { UPLOAD_PREFIX } from './operations.ts';

/** The addresses that answers contain. The service lives at one origin, the uploads possibly at another. */
export class Links {
  readonly #origin: string;
  readonly #uploadOrigin: string;
  readonly #pictureExtension: string;
  readonly #asSeen = new AsyncLocalStorage<string | undefined>();

  /** @param pictureExtension of thumbnails and artwork, which must match their type: `jpg` or `png` */
  constructor(origin: string, uploadOrigin: string, pictureExtension: string) {
    this.#origin = origin;
    this.#uploadOrigin = uploadOrigin;
    this.#pictureExtension = pictureExtension;
  }

  get origin(): string {
    return this.#asSeen.getStore() ?? this.#origin;
  }

  get uploadOrigin(): string {
    const origin = this.#asSeen.getStore();
    if (origin === undefined || this.#uploadOrigin === this.#origin) return origin ?? this.#uploadOrigin;
    const seen = new URL(origin);
    seen.port = new URL(this.#uploadOrigin).port;
    return seen.origin;
  }

  /**
   * Does the work with the links of a client that reaches the service by another host and port, as other containers do.
   * @param host a Host header that was checked; with that of the service's own origin its scheme stays, that of a proxy
   *   in front for example
   * @param scheme of the port that the request came to
   */
  seenBy<T>(host: string, scheme: 'http' | 'https', work: () => T): T {
    const own = new URL(this.#origin);
    const isOwn = URL.parse(`${own.protocol}//${host}`)?.host === own.host;
    return isOwn ? work() : this.#asSeen.run(new URL(`${scheme}://${host}`).origin, work);
  }

  /** Does the work with the service's own links, for what others get than the client whose request brought it about. */
  seenByAll<T>(work: () => T): T {
    return this.#asSeen.run(undefined, work);
  }

  upload(videoId: string, token: string): string {
    return `${this.uploadOrigin}${UPLOAD_PREFIX}${videoId}/${token}`;
  }

  /** With the file's extension: podcast readers refuse an enclosure without one. */
  media(videoId: string, extension: string): string {
    return `${this.origin}/cdn/videos/${videoId}.${extension}`;
  }

  thumbnail(videoId: string): string {
    return `${this.origin}/cdn/thumbnails/${videoId}.${this.#pictureExtension}`;
  }

  artwork(channelId: string): string {
    return `${this.origin}/cdn/artwork/${channelId}.${this.#pictureExtension}`;
  }

  /** The website of every channel: channels have no page of their own (assumed). */
  website(): string {
    return `${this.origin}/`;
  }

  embed(videoId: string): string {
    return `${this.origin}/embed/${videoId}`;
  }

  feed(feedId: string, type: string): string {
    return `${this.origin}/feeds/${feedId}.${type === 'ctv' ? 'json' : 'xml'}`;
  }
}

/** Marks the player's reads of the media file: the player reports its plays itself, and none may count twice. */
export function embedMediaUrl(mediaUrl: string): string {
  return `${mediaUrl}?${MARK}`;
}

/** @param target of a request, path and query */
export function isReadByEmbed(target: string): boolean {
  return target.split('?')[1] === MARK;
}

const MARK = 'via=embed';
