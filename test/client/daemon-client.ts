import { createVideoClient } from '@dropcast/client';
import type {
  RequestAtGate,
  ResponseNote,
  SendCallOptions,
  UploadedVideo,
  UploadSource,
  VideoClient,
  VideoClientOptions,
} from '@dropcast/client';
import { judgeRequests } from './sent-requests.ts';

judgeRequests();

export const apiKey = 'sk_live_4f9a7c21d0e84b6b';

export interface Opened extends AsyncDisposable {
  readonly client: VideoClient;
  /** What passed the gate. */
  readonly passed: RequestAtGate[];
  readonly throttled: (number | undefined)[];
  readonly notes: ResponseNote[];
  /** One PUT to an upload address. */
  send(source: UploadSource, url: string, options?: SendCallOptions): Promise<UploadedVideo>;
}

/** A client as the daemon uses it: it repeats nothing, and its gate lets everything through and remembers it. */
export function openDaemonClient(baseUrl: string, options: Partial<VideoClientOptions> = {}): Opened {
  const passed: RequestAtGate[] = [];
  const throttled: (number | undefined)[] = [];
  const notes: ResponseNote[] = [];
  const client = createVideoClient({
    baseUrl,
    apiKey,
    maxRetries: 0,
    requestGate: {
      pass: async (request) => void passed.push(request),
      throttled: (ms) => void throttled.push(ms),
    },
    proxyEnv: {},
    onResponse: (note) => void notes.push(note),
    ...options,
  });
  return {
    client,
    passed,
    throttled,
    notes,
    send: (source, url, given) =>
      client.videos.send(
        source,
        { id: 'vid_1', uploadUrl: url },
        { askAfterFailure: false, stallTimeoutMs: 5000, ...given },
      ),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
