import { posix } from 'node:path';
import type { Facts } from '../file/facts.ts';
import type { HostedVideo, Likeness } from '../file/failure.ts';

/** A local file as it is compared with the videos of the service. */
export interface LocalVideo {
  readonly id: string;
  /** What its video may be called. */
  readonly titles: readonly string[];
  /** Seconds; null: its container does not say. */
  readonly duration: number | null;
}

/** The title that the rules give it, and its name with and without extension: however it may have been uploaded before. */
export function titlesOf({ plan, path }: Pick<Facts, 'plan' | 'path'>): readonly string[] {
  const { name, base } = posix.parse(path);
  return [...new Set([...(plan === null ? [] : [plan.title]), name, base].map(asCompared))];
}

/**
 * Pure: which videos each file may be. Sure is one alone: a ready video with a title of the file and its duration, where the file has no
 * other candidate and the video no other file. A record without bytes, and a video that failed, are no candidates: nothing is hosted.
 *
 * @param videos without those that a file has already
 * @returns by id of the file
 */
export function likenesses(
  files: readonly LocalVideo[],
  videos: readonly HostedVideo[],
): ReadonlyMap<string, Likeness> {
  const byTitle = Map.groupBy(
    videos.filter(({ status }) => status !== 'pending' && status !== 'failed'),
    ({ title }) => asCompared(title),
  );
  const candidates = new Map(files.map((file) => [file.id, candidatesOf(file, byTitle)]));
  const claims = new Map<string, number>();
  for (const { id } of [...candidates.values()].flat()) claims.set(id, (claims.get(id) ?? 0) + 1);
  return new Map(
    files.map((file) => {
      const likely = candidates.get(file.id) ?? [];
      const [only] = likely;
      const doubt = only === undefined ? null : doubtOf(file, only, { likely, claims: claims.get(only.id) ?? 0 });
      return [file.id, { videos: likely, isSure: only !== undefined && doubt === null, doubt }];
    }),
  );
}

function candidatesOf(
  { titles, duration }: LocalVideo,
  byTitle: ReadonlyMap<string, readonly HostedVideo[]>,
): readonly HostedVideo[] {
  const sameTitle = titles.flatMap((title) => byTitle.get(title) ?? []);
  return sameTitle.filter((video) => (distance(duration, video.duration) ?? 0) <= nearSeconds);
}

function doubtOf(
  { duration }: LocalVideo,
  video: HostedVideo,
  { likely, claims }: { readonly likely: readonly HostedVideo[]; readonly claims: number },
): string | null {
  if (likely.length > 1) return `${likely.length} videos have this title and about this duration`;
  if (claims > 1) return `${claims} files have the title and about the duration of this video`;
  const apart = distance(duration, video.duration);
  if (apart === null)
    return duration === null
      ? 'only the title agrees: the file does not say how long it is'
      : 'only the title agrees: the service does not say how long the video is';
  if (apart > sameSeconds) return `the durations differ by ${apart.toFixed(1)} s`;
  return video.status === 'ready' ? null : `the service says ${JSON.stringify(video.status)} about the video`;
}

function distance(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.abs(one - other);
}

/** The service gives whole seconds, and may round up or down. */
const sameSeconds = 1;
/** Another way to measure, or another cut: a person can tell. */
const nearSeconds = 5;

/** Titles that differ only in case, or in what a file name has for a space. */
function asCompared(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[\s_.]+/gu, ' ')
    .trim();
}
