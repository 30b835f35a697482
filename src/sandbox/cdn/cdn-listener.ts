import type { RawListener } from '../http/server.ts';
import { answerRefusal } from '../http/answer.ts';
import { ApiError } from '../http/api-error.ts';
import type { Library } from '../library.ts';
import type { Records } from '../records.ts';

export interface CdnParts {
  readonly records: Pick<Records, 'videos' | 'channels'>;
  readonly library: Library;
}

/** Media, thumbnails and artwork below /cdn/, on the plain Node request: files of gigabytes must leave without a detour. */
export function createCdnListener(_parts: CdnParts): RawListener {
  return async (_request, response) =>
    answerRefusal(response, new ApiError('not_found', 'There is nothing at this path.'));
}
