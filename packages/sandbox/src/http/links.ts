import { AsyncLocalStorage } from 'node:async_hooks';
import { UPLOAD_PREFIX } from './operations.ts';

/** Builds the addresses in answers. The service has one origin; uploads may have another. */
export class Links {
  readonly #origin: string;
  readonly #uploadOrigin: string;
  readonly #pictureExtension: string;
  readonly #asSeen = new AsyncLocalStorage<string | undefined>();

  /** @param pictureExtension extension of thumbnails and artwork, which must match their type: `jpg` or `png` */
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
   * Runs `work` with the links as seen by a client that reaches the service by another host and port, for instance from
   * another container.
   * @param host a Host header that was checked. For the service's own host, the own origin's scheme is kept, for
   *   instance that of a proxy in front of the service
   * @param scheme scheme of the port that received the request
   */
  seenBy<T>(host: string, scheme: 'http' | 'https', work: () => T): T {
    const own = new URL(this.#origin);
    const isOwn = URL.parse(`${own.protocol}//${host}`)?.host === own.host;
    return isOwn ? work() : this.#asSeen.run(new URL(`${scheme}://${host}`).origin, work);
  }

  /** Runs `work` with the service's own links, for output that goes to others than the requesting client. */
  seenByAll<T>(work: () => T): T {
    return this.#asSeen.run(undefined, work);
  }

  upload(videoId: string, token: string): string {
    return `${this.uploadOrigin}${UPLOAD_PREFIX}${videoId}/${token}`;
  }

  /** Includes the file's extension: podcast readers refuse an enclosure without one. */
  media(videoId: string, extension: string): string {
    return `${this.origin}/cdn/videos/${videoId}.${extension}`;
  }

  thumbnail(videoId: string): string {
    return `${this.origin}/cdn/thumbnails/${videoId}.${this.#pictureExtension}`;
  }

  artwork(channelId: string): string {
    return `${this.origin}/cdn/artwork/${channelId}.${this.#pictureExtension}`;
  }

  /** Returns the website of every channel: channels have no page of their own (assumed). */
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

/**
 * Marks the player's reads of the media file. The player reports its plays itself, so its reads must not count as
 * plays.
 */
export function embedMediaUrl(mediaUrl: string): string {
  return `${mediaUrl}?${MARK}`;
}

/** Returns whether the player sent a read of a media file. @param target path and query of the request */
export function isReadByEmbed(target: string): boolean {
  return target.split('?')[1] === MARK;
}

const MARK = 'via=embed';
