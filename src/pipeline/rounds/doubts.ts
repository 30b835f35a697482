import { videoOfSuspect, withoutToken } from '../file/facts.ts';
import type { Clock, FileStore, LeftoverStore, RemoteVideo, UnansweredCreate, VideoLibrary } from '../file/ports.ts';
import type { Rows } from '../file/rows.ts';
import type { CountStore } from '../file/selection.ts';

export interface DoubtsWorld {
  readonly store: Pick<LeftoverStore, 'unanswered'> & Pick<FileStore, 'load'> & CountStore;
  readonly rows: Pick<Rows, 'claim'>;
  readonly library: Pick<VideoLibrary, 'list'>;
  readonly clock: Clock;
}

/** Age after which a request that was applied late must have taken effect. */
const settledMs = 15 * 60_000;

/**
 * The wait between two checks, and the extra wait for each page of the last list: listing a large library costs many
 * requests.
 */
const everyMs = 3_600_000;
const perPageMs = 10 * 60_000;

/** Maximum number of pages read. The doubts about a longer list remain. */
const mostPages = 50;

/** Largest expected difference between this machine's clock and the service's. */
const skewMs = 3_600_000;

/**
 * Finds out which unanswered create requests made no record, so that the list of suspects contains only real ones.
 * Decision record 0024 defines what proves that there is no record.
 */
export function createDoubts({ store, rows, library, clock }: DoubtsWorld) {
  /** Requests for which the last check found no record; the next check decides about them. */
  let missing: ReadonlySet<string> = new Set();
  /** Whether the list shows empty records at all. If it does not, their absence proves nothing. */
  let showsPending = false;
  let notBefore = -Infinity;

  const isImport = async ({ fileId }: UnansweredCreate): Promise<boolean> =>
    (await store.load(fileId))?.sourceUrl !== null;

  const doubtful = async (): Promise<readonly UnansweredCreate[]> => {
    const now = clock.now();
    const settled = (await store.unanswered()).filter(
      ({ token, at }) => videoOfSuspect(token) === null && (at < now - settledMs || at > now),
    );
    const imports = await Promise.all(settled.map(isImport));
    return settled.filter((_, index) => imports[index] === false);
  };

  /**
   * Whether any video may have resulted from the request: an empty record with its title, no older than the request,
   * and belonging to no file.
   */
  const isAmong = async ({ title, at }: UnansweredCreate, videos: readonly RemoteVideo[]): Promise<boolean> => {
    for (const video of videos) {
      const isLike = video.status === 'pending' && (video.title ?? title) === title;
      if (isLike && (video.createdAt ?? at) >= at - skewMs && (await store.count({ videoId: video.id }, 1)) === 0)
        return true;
    }
    return false;
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      if (clock.elapsed() < notBefore) return;
      notBefore = clock.elapsed() + everyMs;
      const doubts = await doubtful();
      const videos = doubts.length === 0 ? null : await wholeList(library, signal);
      if (videos === null) return;
      notBefore += Math.ceil(videos.length / 100) * perPageMs;
      showsPending ||= videos.some(({ status }) => status === 'pending');
      if (!showsPending) return;
      const before = missing;
      const absent = new Set<string>();
      for (const doubt of doubts) if (!(await isAmong(doubt, videos))) absent.add(doubt.token);
      missing = absent;
      for (const { token, fileId } of doubts.filter((doubt) => absent.has(doubt.token) && before.has(doubt.token)))
        await rows.claim(fileId, (row) =>
          row.write(withoutToken(row.facts, token), `the service has no record of create request ${token}`),
        );
    },
  };
}

/** Returns all videos, or null if the list cannot be read to its end. */
async function wholeList(
  library: Pick<VideoLibrary, 'list'>,
  signal: AbortSignal,
): Promise<readonly RemoteVideo[] | null> {
  const videos: RemoteVideo[] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await library.list(page, signal);
    if (!answer.ok) return null;
    videos.push(...answer.value.videos);
    if (answer.value.videos.length < answer.value.perPage) return videos;
  }
  return null;
}
