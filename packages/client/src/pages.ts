import { listVideos } from './wire/requests.ts';
import type { Video, VideoPage } from './wire/wire.ts';
import { checkOptions } from './caller.ts';
import type { Caller } from './caller.ts';
import { requireWithin } from './settings.ts';
import type { Pages, RequestOptions, VideoQuery } from './video-client.ts';

/** The largest page that may be asked for (api-spec section 8). */
const mostPerPage = 100;

/** @throws TypeError for a query or options out of their range */
export function listPages(caller: Caller, query: VideoQuery, options: RequestOptions): Pages<Video> {
  const { perPage = mostPerPage, ...filter } = query;
  requireWithin('perPage', perPage, [1, mostPerPage]);
  checkOptions(options);
  return new VideoPages((page) => caller.ask(listVideos({ ...filter, page, perPage }), options));
}

class VideoPages implements Pages<Video> {
  readonly #ask: (page: number) => Promise<VideoPage>;

  constructor(ask: (page: number) => Promise<VideoPage>) {
    this.#ask = ask;
  }

  async page(page: number): Promise<VideoPage> {
    requireWithin('page', page, [1, Number.MAX_SAFE_INTEGER]);
    return await this.#ask(page);
  }

  async toArray({ limit = Infinity }: { readonly limit?: number } = {}): Promise<Video[]> {
    if (limit !== Infinity) requireWithin('limit', limit, [0, Number.MAX_SAFE_INTEGER]);
    const videos: Video[] = [];
    if (limit === 0) return videos;
    for await (const video of this) {
      videos.push(video);
      if (videos.length === limit) break;
    }
    return videos;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Video, void> {
    return eachOnce((page) => this.#ask(page));
  }
}

/**
 * Videos that are added while the pages are read push others to later pages, so that some come twice, and a whole page may repeat.
 * Twice in a row means a service that ignores `page`.
 */
const mostRepeats = 2;

async function* eachOnce(ask: (page: number) => Promise<VideoPage>): AsyncGenerator<Video, void> {
  const seen = new Set<string>();
  let before = '';
  let repeats = 0;
  for (let page = 1; repeats < mostRepeats; page += 1) {
    const { videos } = await ask(page);
    if (videos.length === 0) return;
    const ids = JSON.stringify(videos.map(({ id }) => id));
    repeats = ids === before ? repeats + 1 : 0;
    before = ids;
    for (const video of videos) {
      if (seen.has(video.id)) continue;
      seen.add(video.id);
      yield video;
    }
  }
}
