import { UPLOAD_PREFIX } from './operations.ts';

/** The addresses that answers contain. The service lives at one origin, the uploads possibly at another. */
export class Links {
  readonly #origin: string;
  readonly #uploadOrigin: string;

  constructor(origin: string, uploadOrigin: string) {
    this.#origin = origin;
    this.#uploadOrigin = uploadOrigin;
  }

  upload(videoId: string, token: string): string {
    return `${this.#uploadOrigin}${UPLOAD_PREFIX}${videoId}/${token}`;
  }

  thumbnail(videoId: string): string {
    return `${this.#origin}/cdn/thumbnails/${videoId}.jpg`;
  }

  embed(videoId: string): string {
    return `${this.#origin}/embed/${videoId}`;
  }

  feed(feedId: string, type: string): string {
    return `${this.#origin}/feeds/${feedId}.${type === 'ctv' ? 'json' : 'xml'}`;
  }
}
