import type { RecordedExchange } from '../../packages/recorder/src/recording.ts';

/** An exchange, in short. */
export interface Said {
  readonly method?: string;
  readonly target: string;
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
  readonly asked?: unknown;
}

export function exchangesOf(said: readonly Said[]): RecordedExchange[] {
  return said.map(({ method = 'GET', target, status = 200, json, headers = {}, asked }, index) => ({
    kind: 'exchange',
    number: index + 1,
    at: '2026-11-20T12:00:00Z',
    ms: 1,
    method,
    target,
    request: { headers: {}, ...(asked !== undefined && { body: { json: asked } }) },
    answer: {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      ...(json !== undefined && { body: { json } }),
    },
  }));
}
