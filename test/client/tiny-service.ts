import { startHost, takeAll } from './upload-host.ts';
import type { Handler, Host, HostOptions, Seen } from './upload-host.ts';
import { answer } from '../e2e/answers.ts';

export const uploadPath = '/u/tok_5f0c1be2aa77?sig=c2lnbmF0dXJl';

export interface TinyService extends AsyncDisposable {
  readonly host: Host;
  readonly baseUrl: string;
  /** What was asked, in order: `POST /v1/videos`, `PUT`, … */
  asked(): string[];
  puts(): Seen[];
}

export interface Script extends HostOptions {
  /** What becomes of each PUT, in order; the last one of all further ones. Default: taken whole. */
  readonly puts?: readonly Handler[];
  /** What the service says of the video, in order; the last one from then on. Default `pending`. */
  readonly statuses?: readonly (string | object)[];
  /** Further fields of the answer to a creation. */
  readonly created?: object;
}

/** A service with one video, on a real port, that fails as the script says. */
export async function startTinyService({
  puts = [takeAll()],
  statuses = ['pending'],
  created = {},
  ...options
}: Script = {}): Promise<TinyService> {
  const nextPut = inTurn(puts);
  const nextStatus = inTurn(statuses);
  const host: Host = await startHost((request, response, seen) => {
    if (request.method === 'PUT') return nextPut()(request, response, seen);
    request.resume();
    if (request.method === 'POST') {
      return answer(response, 200, {
        id: 'vid_1',
        upload_url: host.origin + uploadPath,
        status: 'pending',
        ...created,
      });
    }
    const said = nextStatus();
    return answer(response, 200, { data: { id: 'vid_1', ...(typeof said === 'string' ? { status: said } : said) } });
  }, options);
  return {
    host,
    baseUrl: `${host.origin}/v1`,
    asked: () => host.seen.map(({ method, url }) => (method === 'PUT' ? 'PUT' : `${method} ${url}`)),
    puts: () => host.seen.filter(({ method }) => method === 'PUT'),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** Takes the whole body and breaks the connection instead of answering. */
export const losesAnswer: Handler = (request) => {
  request.resume();
  request.on('end', () => request.socket.destroy());
};

/** Breaks the connection in the middle of the body. */
export const resets: Handler = (request) => {
  request.once('data', () => request.socket.resetAndDestroy());
  request.resume();
};

function inTurn<T>(values: readonly T[]): () => T {
  let index = 0;
  return () => {
    const value = values[Math.min(index, values.length - 1)];
    if (value === undefined) throw new Error('an empty script');
    index += 1;
    return value;
  };
}
