import type { InspectedRequest } from '../../../packages/sandbox/src/inspector/details.ts';
import { operationOf } from '../../../packages/sandbox/src/http/operations.ts';

interface Given {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly fault?: string;
  readonly isUnderWay?: boolean;
}

/** A request as the journal has it. @param asked `POST /v1/videos?x=1` */
export function inspected(
  number: number,
  asked: string,
  { status = 200, body, headers = {}, fault, isUnderWay }: Given = {},
): InspectedRequest {
  const [method = '', target = ''] = asked.split(' ');
  const [path = '', query = ''] = target.split('?');
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const shown = {
    type: null,
    sizeBytes: text?.length ?? 0,
    isComplete: true,
    isCut: false,
    text,
    firstBytes: Buffer.alloc(0),
  };
  const nothing = { ...shown, sizeBytes: 0, text: null };
  return {
    number,
    operation: operationOf(method, path),
    method,
    path,
    query,
    status: isUnderWay ? 0 : status,
    atMs: number,
    durationMs: isUnderWay ? null : 1,
    bytesIn: 0,
    bytesOut: 0,
    keyId: 1,
    fault: fault ?? null,
    videoId: null,
    channelId: null,
    feedId: null,
    details: {
      requestHeaders: headers,
      requestBody: shown,
      answerHeaders: {},
      answerBody: nothing,
      receivedMs: 0,
      firstByteMs: 0,
      sentMs: 0,
      faultRule: undefined,
    },
  };
}
