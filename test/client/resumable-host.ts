import type { IncomingMessage, ServerResponse } from 'node:http';

import { answer } from '../e2e/answers.ts';
import { startHost } from './upload-host.ts';

/** Replaces the host's answer to one request; undefined leaves it. */
export type Fault =
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'answer lost' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    };

export interface HostScript {
  readonly protocol: 'content-range' | 'tus';
  /** Whether the address shows a session of Google Cloud Storage. Default: with `content-range`. */
  readonly isSession?: boolean;
  /** Whether a PUT without `Content-Range` is kept if it breaks, and refused afterwards with 308. */
  readonly refusesSecondPut?: boolean;
}

/** A service with one video, whose upload host keeps what arrived. Tests change its fields between requests. */
export interface ResumableHost extends AsyncDisposable {
  readonly baseUrl: string;
  readonly uploadUrl: string;
  /** `ask`, `PUT 0`, `PATCH 1048576`, … of the requests to the upload address. */
  readonly asked: string[];
  /** The bytes that the host has. */
  kept: Buffer;
  /** Number of all bytes of bodies, also of discarded ones. */
  bytesSeen: number;
  sizeBytes: number;
  questions: (Fault | undefined)[];
  deliveries: (Fault | undefined)[];
  /** Called with the number of bytes that the host has whenever more arrive. */
  onBytes: (kept: number) => void;
}

/** @param sizeBytes of the file that is expected */
export async function startResumableHost(sizeBytes: number, script: HostScript): Promise<ResumableHost> {
  const { protocol, isSession = protocol === 'content-range' } = script;
  const server = await startHost((request, response) => {
    if (request.url?.startsWith('/v1/') === true) return state();
    return upload(request, response);

    function state(): void {
      request.resume();
      const status = host.kept.length === host.sizeBytes && isDone ? 'processing' : 'pending';
      answer(response, 200, { data: { id: 'vid_1', status } });
    }
  });
  let isDone = false;
  const host: ResumableHost = {
    baseUrl: `${server.origin}/v1`,
    uploadUrl: `${server.origin}/uploads/vid_1/tok_5f0c1be2aa77${isSession ? '?uploadType=resumable&upload_id=s1' : ''}`,
    asked: [],
    kept: Buffer.alloc(0),
    bytesSeen: 0,
    sizeBytes,
    questions: [],
    deliveries: [],
    onBytes: () => {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };

  function upload(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', headers } = request;
    const range = headers['content-range'];
    const isQuestion = method === 'HEAD' || range?.startsWith('bytes */') === true;
    const offset = Number(headers['upload-offset'] ?? /^bytes (\d+)-/.exec(range ?? '')?.[1] ?? 0);
    host.asked.push(isQuestion ? 'ask' : `${method} ${offset}`);
    const fault = isQuestion ? host.questions.shift() : host.deliveries.shift();
    if (fault?.kind === 'answer') return refuse(response, request, fault);
    if (protocol === 'tus' && method === 'PUT') return refuse(response, request, { kind: 'answer', status: 405 });
    if (isQuestion) return say(response, 200);
    if (offset > host.kept.length || (method === 'PATCH' && offset !== host.kept.length))
      return refuse(response, request, { kind: 'answer', status: 409 });
    if (script.refusesSecondPut === true && range === undefined && host.kept.length > 0) return say(response, 308);
    let skip = host.kept.length - offset;
    let taken = 0;
    const most = fault?.kind === 'cut' ? fault.afterBytes : Number.POSITIVE_INFINITY;
    request.on('data', (chunk: Buffer) => {
      const piece = chunk.subarray(0, most - taken);
      taken += piece.length;
      host.bytesSeen += piece.length;
      const fresh = piece.subarray(Math.min(skip, piece.length));
      skip -= piece.length - fresh.length;
      host.kept = Buffer.concat([host.kept, fresh]);
      if (fresh.length > 0) host.onBytes(host.kept.length);
      if (taken === most) request.socket.destroy();
    });
    request.on('end', () => {
      if (host.kept.length === host.sizeBytes) isDone = true;
      if (fault?.kind === 'answer lost') request.socket.destroy();
      else say(response, 204);
    });
    request.resume();
  }

  /** Says how much has arrived. */
  function say(response: ServerResponse, whole: number): void {
    const arrived = host.kept.length;
    if (protocol === 'tus') {
      response.writeHead(whole, {
        'tus-resumable': '1.0.0',
        'upload-offset': arrived,
        'upload-length': host.sizeBytes,
      });
      return void response.end();
    }
    const isWhole = arrived === host.sizeBytes && isDone;
    response.writeHead(isWhole ? 200 : 308, arrived === 0 || isWhole ? {} : { range: `bytes=0-${arrived - 1}` }).end();
  }

  function refuse(response: ServerResponse, request: IncomingMessage, fault: Fault & { kind: 'answer' }): void {
    request.resume();
    response.writeHead(fault.status, { ...(protocol === 'tus' && { 'tus-resumable': '1.0.0' }), ...fault.headers });
    response.end(fault.body);
  }
  return host;
}
