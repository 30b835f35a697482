import type { Sandbox } from '../../../packages/sandbox/src/sandbox.ts';

export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

/** Somebody who came by the printed address, in a browser without scripts. */
export class Visitor {
  readonly #origin: string;
  readonly #cookie: string;

  private constructor(origin: string, cookie: string) {
    this.#origin = origin;
    this.#cookie = cookie;
  }

  static async enter({ pageUrl }: Pick<Sandbox, 'pageUrl'>): Promise<Visitor> {
    const entry = await fetch(pageUrl, { redirect: 'manual' });
    return new Visitor(new URL(pageUrl).origin, entry.headers.get('set-cookie')?.split(';')[0] ?? '');
  }

  async get(path: string): Promise<PageAnswer> {
    return answerOf(await fetch(this.#origin + path, { headers: { cookie: this.#cookie }, redirect: 'manual' }));
  }

  /** Sends a form, and stays at the answer. @param headers in the place of those of a form of the own page */
  async post(
    path: string,
    fields: Record<string, string> | string = {},
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<PageAnswer> {
    const sent = { method: 'POST', redirect: 'manual', headers: { cookie: this.#cookie, ...headers } } as const;
    return answerOf(await fetch(this.#origin + path, { ...sent, body: new URLSearchParams(fields) }));
  }

  /** Sends a form with a file. @param headers as for `post` */
  async sendFile(
    path: string,
    field: string,
    content: string,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<PageAnswer> {
    const body = new FormData();
    body.set(field, new File([content], 'sandbox.json'));
    const sent = { method: 'POST', redirect: 'manual', headers: { cookie: this.#cookie, ...headers } } as const;
    return answerOf(await fetch(this.#origin + path, { ...sent, body }));
  }

  /** Listens to what happens. Ends with `signal`. */
  async live(signal: AbortSignal): Promise<ReadableStream<string>> {
    const { body } = await fetch(`${this.#origin}/_page/live`, { headers: { cookie: this.#cookie }, signal });
    if (!body) throw new Error('no stream');
    return body.pipeThrough(new TextDecoderStream());
  }
}

async function answerOf(response: Response): Promise<PageAnswer> {
  return { status: response.status, headers: response.headers, html: await response.text() };
}
