import { openVideoClient } from '../../packages/client/src/create-video-client.ts';
import type { ResponseNote, VideoClientOptions } from '../../packages/client/src/client-options.ts';
import type { RequestNote } from '../../packages/client/src/request-gate.ts';
import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { throwIfAborted } from '../../packages/client/src/errors.ts';
import { apiKey } from './daemon-client.ts';

export interface OpenedClient extends AsyncDisposable {
  readonly client: VideoClient;
  /** Every wait between attempts, in milliseconds. */
  readonly sleeps: number[];
  readonly requests: RequestNote[];
  readonly responses: ResponseNote[];
}

export interface GivenClient extends Partial<VideoClientOptions> {
  /** What chance gives, always; 1 shows the longest waits. */
  readonly random?: number;
  /** Called in each wait, before the time has passed. */
  readonly onSleep?: (ms: number) => void;
  /** How much longer each wait takes than was asked for, in milliseconds, as with real timers. Default 0. */
  readonly lateMs?: number;
}

/** A client whose waits take no time but move its clock. */
export function openClient(
  baseUrl: string,
  { random = 1, onSleep, lateMs = 0, ...options }: GivenClient = {},
): OpenedClient {
  const sleeps: number[] = [];
  const requests: RequestNote[] = [];
  const responses: ResponseNote[] = [];
  let nowMs = 0;
  const surroundings = {
    elapsed: () => nowMs,
    sleep: async (ms: number, signal: AbortSignal) => {
      sleeps.push(ms);
      onSleep?.(ms);
      throwIfAborted(signal, 'waiting for the next attempt');
      nowMs += ms + lateMs;
    },
    random: () => random,
  };
  const client = openVideoClient(
    {
      baseUrl,
      apiKey,
      proxyEnv: {},
      onRequest: (note) => void requests.push(note),
      onResponse: (note) => void responses.push(note),
      ...options,
    },
    surroundings,
  );
  return { client, sleeps, requests, responses, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

/** The error that a promise rejects with. @throws if it does not */
export async function failure(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof Error && error.message !== 'it succeeded') return error;
  throw new Error('expected a failure');
}
