import type { IncomingMessage, ServerResponse } from 'node:http';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { HostedVideo, HostOptions, VideoHost } from '../../e2e/video-host.ts';
import type { RecordOnService, Request } from '../judge/evidence.ts';

/** What goes wrong at present; null lets everything through. A fault that returns true has answered or cut the request. */
export interface Faults {
  api: ((request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean | Promise<boolean>) | null;
  upload: ((request: IncomingMessage, response: ServerResponse, id: string) => boolean | Promise<boolean>) | null;
}

/** The service as a judge needs it: it takes a second body instead of hiding it behind a 409, and remembers everything. */
export interface JudgedService extends AsyncDisposable {
  readonly host: VideoHost;
  readonly faults: Faults;
  readonly journal: readonly Request[];
  /** All records that ever were, oldest first. */
  records(): readonly RecordOnService[];
  /** Somebody else's record of that title. */
  addForeign(title: string): HostedVideo;
}

export async function startJudgedService(options: HostOptions = {}): Promise<JudgedService> {
  const faults: Faults = { api: null, upload: null };
  const journal: Request[] = [];
  const deleted: RecordOnService[] = [];
  const foreign = new Set<string>();
  const note = (method: string | undefined, path: string): void => {
    const video = host.videos.get(path.split('/').at(-1) ?? '');
    journal.push({ method: method ?? '', path, status: video?.status ?? null });
    if (method === 'DELETE' && video !== undefined) deleted.push(recordOf(video, foreign, true));
  };
  const host: VideoHost = await startVideoHost({
    processingMs: () => 0,
    ...options,
    meddle: (request, response, body) => {
      note(request.method, new URL(request.url ?? '/', 'http://host').pathname);
      return faults.api?.(request, response, body) ?? false;
    },
    meddleUpload: (request, response, id) => {
      note('PUT', `/put/${id}`);
      return faults.upload?.(request, response, id) ?? false;
    },
  });
  return {
    host,
    faults,
    journal,
    records: () => {
      const living = [...host.videos.values()].map((video) => recordOf(video, foreign, false));
      // A DELETE that was refused or never applied deleted nothing.
      return [...living, ...deleted.filter(({ id }) => !host.videos.has(id))];
    },
    addForeign: (title) => {
      const video: HostedVideo = { ...emptyVideo, id: `vid_foreign${foreign.size}`, title, createdAt: Date.now() };
      foreign.add(video.id);
      host.videos.set(video.id, video);
      return video;
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

const emptyVideo = {
  description: null,
  channelId: 'ch_main',
  tags: [],
  sourceUrl: null,
  status: 'pending' as const,
  bodies: [],
  size: 0,
};

function recordOf({ id, title, status, bodies }: HostedVideo, foreign: ReadonlySet<string>, isDeleted: boolean) {
  return { id, title, status, bodies: [...bodies], isDeleted, isForeign: foreign.has(id) };
}
