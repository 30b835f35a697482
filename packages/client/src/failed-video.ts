import { VideoFailedError } from './errors.ts';
import type { Scrub } from './transport/scrub.ts';
import { plain } from './transport/answer-body.ts';
import type { Video } from './wire/wire.ts';

/** The error for a video whose status is `failed`, with the reason as it may be printed. */
export function failedVideo({ id, message }: Video, scrub: Scrub): VideoFailedError {
  return new VideoFailedError(id, message === undefined ? undefined : plain(scrub(message)));
}
