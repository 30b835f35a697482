import type { Lane } from '../../src/pipeline/file/ports.ts';
import type { RequestNote, VideoService, VideoServiceOptions } from '../../src/host/video-service.ts';
import { createVideoService } from '../../src/host/video-service.ts';
import { judgeRequests } from './sent-requests.ts';

judgeRequests();

export const apiKey = 'sk_live_4f9a7c21d0e84b6b';

export interface Opened extends AsyncDisposable {
  readonly service: VideoService;
  readonly taken: Lane[];
  readonly throttled: (number | undefined)[];
  readonly notes: RequestNote[];
}

/** A service client with a gate that lets everything through and remembers it. */
export function openService(baseUrl: string, options: Partial<VideoServiceOptions> = {}): Opened {
  const taken: Lane[] = [];
  const throttled: (number | undefined)[] = [];
  const notes: RequestNote[] = [];
  const service = createVideoService({
    baseUrl,
    apiKey: { reveal: () => apiKey },
    sendKeyTo: [],
    gate: {
      take: async (lane) => void taken.push(lane),
      throttled: (ms) => void throttled.push(ms),
    },
    proxyEnv: {},
    onRequest: (note) => void notes.push(note),
    ...options,
  });
  return { service, taken, throttled, notes, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}
