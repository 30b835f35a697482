import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { videoForm, videoListForm } from './json-forms.ts';
import type { Session } from './session.ts';
import { describeVideo, videoTable } from './video-text.ts';

export interface ListVideosOptions {
  readonly channel?: string;
  readonly status?: 'processing' | 'ready' | 'failed';
  /** Maximum number of videos, at least 1. */
  readonly limit: number;
  readonly json?: boolean;
}

/** The service's largest page size (api-spec section 4.1). */
const MOST_PER_PAGE = 100;

/** `dropcast videos list`: lists videos, newest first. */
export async function listVideos({ shell, client }: Session, options: ListVideosOptions): Promise<void> {
  const { channel, status, limit } = options;
  const query = {
    perPage: Math.min(limit, MOST_PER_PAGE),
    ...(channel !== undefined && { channelId: channel }),
    ...(status !== undefined && { status }),
  };
  const videos = await client.videos.list({ ...query, limit }, { signal: shell.stopping }).toArray();
  if (options.json === true) return printJson({ videos: videos.map(videoListForm) }, shell.stdout);
  if (videos.length === 0) shell.stderr.write('No videos found.\n');
  else shell.stdout.write(videoTable(videos, shell, Date.now()));
  if (videos.length === limit)
    shell.stderr.write(`Stopped at ${counted(limit, 'video')}; there may be more: raise --limit.\n`);
}

/** `dropcast videos get ID`: shows everything about one video. */
export async function getVideo(
  { shell, client }: Session,
  id: string,
  options: { readonly json?: boolean },
): Promise<void> {
  const video = await client.videos.get(id, { signal: shell.stopping });
  if (options.json === true) printJson({ video: videoForm(video) }, shell.stdout);
  else shell.stdout.write(describeVideo(video, shell));
}
