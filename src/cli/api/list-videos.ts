import { printJson } from '../output/json.ts';
import { videoForm } from './json-forms.ts';
import type { Session } from './session.ts';
import { videoTable } from './video-text.ts';

export interface ListVideosOptions {
  readonly channel?: string;
  readonly status?: 'processing' | 'ready' | 'failed';
  /** From 1. */
  readonly limit: number;
  readonly json?: boolean;
}

/** The most that the service gives in a page (api-spec section 4.1). */
const MOST_PER_PAGE = 100;

/** `dropcast videos list`: newest first. */
export async function listVideos({ shell, client }: Session, options: ListVideosOptions): Promise<void> {
  const { channel, status, limit } = options;
  const query = {
    perPage: Math.min(limit, MOST_PER_PAGE),
    ...(channel !== undefined && { channelId: channel }),
    ...(status !== undefined && { status }),
  };
  const videos = await client.videos.list(query, { signal: shell.stopping }).toArray({ limit });
  if (options.json === true) return printJson({ videos: videos.map(videoForm) }, shell.stdout);
  if (videos.length === 0) shell.stderr.write('No such videos.\n');
  else shell.stdout.write(videoTable(videos, shell, Date.now()));
  if (videos.length === limit) shell.stderr.write(`There may be more than ${limit}: see --limit.\n`);
}
