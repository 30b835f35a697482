import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startServer } from '../../support/server.ts';
import type { Json } from '../running-sandbox.ts';

export interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Json;
}

/** Takes webhooks, and answers as the test wants. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  answer: (response: ServerResponse, received: Received) => void;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = await startServer((request, response) => {
    void text(request).then(
      (body) => {
        const { method, headers } = request;
        const one = { method, headers, text: body, json: JSON.parse(body) };
        received.push(one);
        receiver.answer(response, one);
      },
      () => undefined,
    );
  });
  const receiver: Receiver = {
    url: `${server.origin}/hook`,
    received,
    answer: (response) => response.writeHead(204).end(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return receiver;
}

/** Checks it as the specification of Standard Webhooks says, and not with any code of ours. */
export function isSignedWith(secret: string, { headers, text: body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
