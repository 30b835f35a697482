import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer, loseAnswer, refusal } from '../../e2e/answers.ts';

/** A request of the API, or one that brings bytes. True: it was answered or cut, and nothing was done. */
type Fault = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** The request is not carried out, or not yet: it may come in at any point of a body. */
export const faultsBefore = {
  refuse: (request) => {
    listenAgainIn(300, request);
    request.socket.destroy();
    return true;
  },
  'reset before it is applied': (request) => {
    request.socket.destroy();
    return true;
  },
  'never answered': (request) => {
    request.resume();
    return true;
  },
  slow: () => sleep(1_500, false),
  '502 in HTML': (_, response) => answer(response, 502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }),
  '429 with seconds': (_, response) => tooMany(response, '1'),
  '429 with a date': (_, response) => tooMany(response, new Date(Date.now() + 2_000).toUTCString()),
  '429 with an absurd wait': (_, response) => tooMany(response, '99999999999'),
  redirect: (_, response) => answer(response, 302, '', { location: '/elsewhere' }),
} satisfies Record<string, Fault>;

/** The request is carried out, and its answer is lost or strange. */
export const faultsAfter = {
  'reset after it is applied': loseAnswer,
  'applied late': (request) => {
    request.socket.destroy();
    return sleep(300, false);
  },
  '500 after it is applied': (_, response) => altered(response, (said) => ({ ...said, status: 500 })),
  'truncated JSON': (_, response) =>
    altered(response, (said) => ({ ...said, text: said.text.slice(0, said.text.length / 2) })),
  'empty 200': (_, response) => altered(response, (said) => ({ ...said, status: 200, text: '' })),
  'another content type': (_, response) => altered(response, (said) => ({ ...said, type: 'text/plain' })),
  'status words in other letters': (_, response) =>
    altered(response, (said) => ({
      ...said,
      text: said.text.replaceAll(/"status":"(\w+)"/g, (_all, word: string) => `"status":"${word.toUpperCase()}"`),
    })),
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faultsBefore | keyof typeof faultsAfter;

export function faultOf(name: FaultName): Fault {
  return { ...faultsBefore, ...faultsAfter }[name];
}

function tooMany(response: ServerResponse, retryAfter: string): true {
  return refusal(response, 429, 'rate_limited', { 'retry-after': retryAfter });
}

interface Said {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Lets the service do its work, and answers something else. */
function altered(response: ServerResponse, change: (said: Said) => Said): false {
  const { writeHead, end } = response;
  let status = 200;
  response.writeHead = (code: number) => {
    status = code;
    return response;
  };
  response.end = (body?: unknown) => {
    const said = change({ status, type: 'application/json', text: typeof body === 'string' ? body : '' });
    writeHead.call(response, said.status, { 'content-type': said.type });
    return end.call(response, said.text, 'utf8');
  };
  return false;
}

/** Nobody listens on the port meanwhile. */
function listenAgainIn(ms: number, request: IncomingMessage): void {
  const { server } = request.socket as unknown as { readonly server: Server };
  const address = server.address();
  if (address === null || typeof address === 'string') return;
  server.close();
  setTimeout(() => server.listen(address.port, address.address), ms);
}
