import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

/** A page that benchmarks look at. */
export interface Page {
  readonly port: number;
  readonly token: string;
}

/** Asks for a view. @throws when the answer is not a page */
export async function view(page: Page, path: string): Promise<void> {
  const response = await answer(page, path);
  if (response.statusCode !== 200) throw new Error(`${path}: ${String(response.statusCode)}`);
  response.resume();
  await new Promise((resolve, reject) => response.on('end', resolve).on('error', reject));
}

/**
 * Readers of a view, as its script makes them: each hears the stream of changes and asks for the view again when it is
 * told of one, one question at a time.
 */
export async function openViewers(page: Page, path: string, count: number): Promise<AsyncDisposable> {
  const streams = await Promise.all(Array.from({ length: count }, () => answer(page, '/live')));
  let isOver = false;
  const asked = streams.map(async (stream) => {
    for await (const chunk of stream) {
      if (isOver) return;
      if (String(chunk).includes('event: changes')) await view(page, path);
    }
  });
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      for (const stream of streams) stream.destroy();
      await Promise.allSettled(asked);
    },
  };
}

async function answer({ port, token }: Page, path: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ host: '127.0.0.1', port, path, headers: { authorization: `Bearer ${token}` } }, resolve)
    .on('error', reject)
    .end();
  return promise;
}
