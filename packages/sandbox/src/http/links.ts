import { UPLOAD_PREFIX } from './operations.ts';

/** The addresses that answers contain. The service lives at one origin, the uploads possibly at another. */
export class Links {
  readonly origin: string;
  readonly uploadOrigin: string;
  readonly #pictureExtension: string;

  /** @param pictureExtension of thumbnails and artwork, which must match their type: `jpg` or `png` */
  constructor(origin: string, uploadOrigin: string, pictureExtension: string) {
    this.origin = origin;
    this.uploadOrigin = uploadOrigin;
    this.#pictureExtension = pictureExtension;
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
