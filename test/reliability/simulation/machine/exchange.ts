import { EventEmitter } from 'node:events';
import {
  AbortedError,
  ConnectionError,
  FileChangedError,
  RequestTimeoutError,
  throwIfAborted,
} from '../../../../packages/client/src/errors.ts';
import type { Answer } from '../../../../packages/client/src/transport/answer.ts';
import type { Exchange } from '../../../../packages/client/src/transport/exchange.ts';
import { KeptUpload, offsetAnswer, placeOf, tusVersion } from '../kept-uploads.ts';
import type { Reply, Service } from '../service.ts';
import type { Fate, Part } from '../weather.ts';
import { storedRows } from './database.ts';
import { machine } from './machine.ts';
import type { Machine } from './machine.ts';

/** Decides what becomes of each request. */
export interface Fates {
  /** @param about the title of a new video, else the id of a video or feed; empty for a list */
  fateOf(part: Part, about: string): Fate;
}

let service: Service;
let weather: Fates;

/** Connects the machine to a service, through some weather. */
export function connectNetwork(to: Service, through: Fates): void {
  service = to;
  weather = through;
}

/** Takes the place of the client's `exchange`: the same contract, without a socket. */
export async function exchange(request: Exchange): Promise<Answer> {
  throwIfAborted(request.signal, request.what);
  const host = machine();
  const { process } = host;
  const carried = Promise.withResolvers<Answer>();
  void new Trip(host, request).run().then(carried.resolve, carried.reject);
  const stopped = Promise.withResolvers<never>();
  const abort = (): void => stopped.reject(new AbortedError(request.what));
  request.signal.addEventListener('abort', abort, { once: true });
  const { timeoutMs } = request;
  const stopTimer =
    timeoutMs === undefined
      ? () => undefined
      : host.time.after(timeoutMs, () => stopped.reject(timedOut(request)), process);
  try {
    const answer = await Promise.race([carried.promise, stopped.promise]);
    return process?.isDead === true ? await new Promise<never>(() => undefined) : answer;
  } finally {
    stopTimer();
    request.signal.removeEventListener('abort', abort);
  }
}

/** One request on its way, which goes on when nobody waits for it any more. */
class Trip {
  readonly #host: Machine;
  readonly #request: Exchange;
  readonly #process: Machine['process'];
  readonly #part: Part;
  readonly #fate: Fate;

  constructor(host: Machine, request: Exchange) {
    this.#host = host;
    this.#process = host.process;
    this.#request = request;
    this.#part = partOf(request);
    this.#fate = weather.fateOf(this.#part, subjectOf(request, this.#part));
  }

  async run(): Promise<Answer> {
    const fate = this.#fate;
    this.#host.log('request', `${this.#request.method} ${this.#request.url.pathname} (${fate})`);
    await this.#travel();
    if (fate === 'refused' || fate === 'no name')
      throw new ConnectionError(false, 'the service cannot be reached', {
        code: fate === 'refused' ? 'ECONNREFUSED' : 'ENOTFOUND',
      });
    // A connection that the dead, or somebody who gave up, have not made yet is never made.
    if (this.#process?.isDead === true || this.#request.signal.aborted) return new Promise(() => undefined);
    this.#linkUp();
    if (this.#part !== 'put') return this.#ask();
    return service.protocol === 'put' ? this.#put() : this.#keep();
  }

  async #ask(): Promise<Answer> {
    await this.#travel();
    service.note({ what: 'request', video: null, said: this.#part });
    const said = badAnswers[this.#fate];
    switch (this.#fate) {
      case 'request lost':
        throw this.#broken();
      case 'late':
        this.#host.time.after(
          this.#host.random.between(3_000, 40_000),
          () => {
            this.#reach('late', '');
            this.#apply();
          },
          null,
        );
        throw this.#broken();
      case 'answer lost':
        this.#reach('lost', ' answer');
        this.#apply();
        await this.#travel();
        throw this.#broken();
      case 'silence':
        if (this.#host.random.chance(0.5)) this.#apply();
        return new Promise(() => undefined);
      case '500 done':
        this.#apply();
        return this.#answer({ status: 500 });
      case '429':
      case '429 date':
        this.#host.reach('429');
        return this.#answer({ status: 429 }, this.#retryAfter());
      case 'html':
        return this.#answer({ status: 200 }, { 'content-type': 'text/html' }, '<!doctype html><title>Log in</title>');
      default: {
        if (said !== undefined) return this.#answer({ status: said });
        return this.#answer(this.#apply());
      }
    }
  }

  async #put(): Promise<Answer> {
    const { url } = this.#request;
    service.note({ what: 'put begins', video: videoOf(url) });
    const line = this.#openBody();
    await this.#travel();
    const early = this.#fate === '503' || this.#fate === '500' ? { status: 503 } : service.refusesBody(url);
    if (early !== null) {
      line.emit('response');
      service.note({ what: 'put ends', video: videoOf(url), said: String(early.status) });
      return this.#answer(early);
    }
    if (this.#host.random.chance(0.7)) line.emit('continue');
    try {
      const bytes = await this.#receive();
      if (bytes !== null) return await this.#deliver(bytes);
    } catch (error) {
      if (error instanceof FileChangedError) this.#host.reach('gate abort');
      throw error;
    } finally {
      service.note({ what: 'put ends', video: videoOf(url) });
    }
    throw this.#broken();
  }

  /** A question to a host that keeps bytes, or bytes for it. */
  async #keep(): Promise<Answer> {
    const { url } = this.#request;
    const { protocol } = service;
    const place = placeOf(protocol, this.#request);
    const line = this.#openBody();
    await this.#travel();
    const isDown = this.#fate === '503' || this.#fate === '500';
    const kept = isDown ? { status: 503 } : place === null ? { status: 405 } : service.keptAt(url);
    if (place === null || !(kept instanceof KeptUpload)) {
      line.emit('response');
      return this.#answer(kept as Reply, protocol === 'tus' ? tusVersion : {});
    }
    const { from } = place;
    if (from === null) {
      service.note({ what: 'offset asked', video: videoOf(url), said: String(kept.bytes.length) });
      if (this.#fate === 'silence') return new Promise(() => undefined);
      if (isBroken.has(this.#fate)) throw this.#broken();
      if (isBeforeGate(videoOf(url))) service.perhapsClaim(url);
      return this.#offset(kept);
    }
    if (from > kept.bytes.length || (protocol === 'tus' && from !== kept.bytes.length))
      return this.#answer({ status: 409 }, protocol === 'tus' ? tusVersion : {});
    const turn = service.begin(url, place);
    if (this.#host.random.chance(0.7)) line.emit('continue');
    const wanted = Number(this.#request.headers['content-length'] ?? 0);
    const cutAt =
      this.#fate === 'cut' || this.#fate === 'request lost' ? this.#host.random.below(wanted + 1) : Infinity;
    let length = 0;
    try {
      for await (const part of this.#request.body ?? []) {
        await this.#host.time.sleep(this.#host.random.between(1, 150));
        const piece = Uint8Array.from(part.subarray(0, Math.max(0, cutAt - length)));
        const at = from + length;
        length += part.length;
        const add = (): void => service.keep(url, piece, at, turn);
        if (this.#fate === 'late') this.#host.time.after(this.#host.random.between(3_000, 50_000), add, null);
        else add();
        if (length >= cutAt) throw this.#broken();
      }
    } catch (error) {
      if (error instanceof FileChangedError) this.#host.reach('gate abort');
      throw error;
    } finally {
      service.note({ what: 'put ends', video: videoOf(url) });
    }
    if (this.#fate === 'silence') return new Promise(() => undefined);
    if (length !== wanted || isBroken.has(this.#fate)) throw this.#broken();
    kept.isAnswered = true;
    return this.#offset(kept);
  }

  #offset(kept: KeptUpload): Promise<Answer> {
    const { status, headers } = offsetAnswer(service.protocol, kept);
    return this.#answer({ status }, headers);
  }

  /** All bytes of the body have left. */
  async #deliver(bytes: Uint8Array): Promise<Answer> {
    const { url } = this.#request;
    switch (this.#fate) {
      case 'request lost':
        throw this.#broken();
      case 'late':
        this.#host.time.after(
          this.#host.random.between(3_000, 50_000),
          () => {
            this.#reach('late', '');
            service.take(url, bytes);
          },
          null,
        );
        throw this.#broken();
      case 'answer lost':
        if (service.take(url, bytes).status === 200) this.#host.reach('PUT applied, answer lost');
        throw this.#broken();
      case 'silence':
        if (this.#host.random.chance(0.5)) service.take(url, bytes);
        this.#host.reach('PUT never answered');
        return new Promise(() => undefined);
      default:
        await this.#travel();
        return this.#answer(service.take(url, bytes));
    }
  }

  /** Null when it was cut before the end. */
  async #receive(): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = [];
    const wanted = Number(this.#request.headers['content-length'] ?? 0);
    const cutAt = this.#fate === 'cut' ? this.#host.random.below(wanted + 1) : Infinity;
    let length = 0;
    for await (const part of this.#request.body ?? []) {
      await this.#host.time.sleep(this.#host.random.between(1, 150));
      length += part.length;
      if (length >= cutAt) return null;
      parts.push(Uint8Array.from(part));
    }
    if (cutAt !== Infinity || length !== wanted) return null;
    return Buffer.concat(parts);
  }

  #openBody(): EventEmitter {
    const line = Object.assign(new EventEmitter(), { flushHeaders: () => undefined });
    this.#request.onSocket?.(line as never);
    return line;
  }

  /** From here on bytes may have left. */
  #linkUp(): void {
    const line = new EventEmitter();
    this.#request.line.attach(line as never, false);
    line.emit('finish');
  }

  #apply(): Reply {
    const { method, url, json, headers } = this.#request;
    const [, , kind, id = '', action] = url.pathname.split('/');
    if (kind === 'feeds' && action === 'publish') return service.publish(id);
    if (kind !== 'videos') return { status: 404 };
    if (method === 'POST') return service.create(json ?? {}, headers['idempotency-key'] ?? '');
    if (method === 'DELETE') return service.delete(id);
    if (method === 'PATCH') return service.amend(id, json ?? {});
    if (id !== '') return service.get(id);
    return service.list(Number(url.searchParams.get('page') ?? 1), Number(url.searchParams.get('per_page') ?? 25));
  }

  async #answer({ status, json }: Reply, headers: Record<string, string> = {}, page?: string): Promise<Answer> {
    await this.#travel();
    return { status, headers, body: page ?? (json === undefined ? '' : JSON.stringify(json)), url: this.#request.url };
  }

  #retryAfter(): Record<string, string> {
    const seconds = 1 + this.#host.random.below(20);
    if (this.#fate === '429') return { 'retry-after': String(seconds) };
    const { wall } = this.#host.time;
    return { date: new Date(wall).toUTCString(), 'retry-after': new Date(wall + seconds * 1000).toUTCString() };
  }

  #reach(how: string, what: string): void {
    if (this.#part === 'create') this.#host.reach(`${how} POST${what}`);
    else if (this.#part === 'put') this.#host.reach(`${how} PUT${what}`);
  }

  #travel(): Promise<void> {
    const { random, time } = this.#host;
    return time.sleep(random.chance(0.05) ? random.between(200, 3_000) : random.between(2, 60));
  }

  #broken(): ConnectionError {
    return new ConnectionError(true, 'the connection broke', { code: 'ECONNRESET' });
  }
}

const badAnswers: Readonly<Partial<Record<Fate, number>>> = { '500': 500, '503': 503, '404': 404 };

function partOf({ method, url }: Exchange): Part {
  if (url.pathname.startsWith('/upload/')) return 'put';
  if (url.pathname.includes('/feeds/')) return 'publish';
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  if (method === 'PATCH') return 'amend';
  return url.pathname.endsWith('/videos') ? 'list' : 'get';
}

/** Fates of a request whose connection breaks. */
const isBroken: ReadonlySet<Fate> = new Set(['cut', 'request lost', 'answer lost', 'late']);

/** Whether no byte beyond the last part can have left: from then on, no one can tell a false claim from a lost answer. */
function isBeforeGate(videoId: string): boolean {
  return storedRows('file').some((row) => row['video_id'] === videoId && row['sha256'] === null);
}

function subjectOf({ url, json }: Exchange, part: Part): string {
  if (part === 'create') return typeof json?.title === 'string' ? json.title : '';
  if (part === 'list') return '';
  return part === 'put' ? videoOf(url) : (url.pathname.split('/')[3] ?? '');
}

function videoOf(url: URL): string {
  return url.pathname.split('/').at(-1) ?? '';
}

function timedOut({ what, line }: Exchange): RequestTimeoutError {
  return new RequestTimeoutError(line.isUp, `${what}: no answer in time`, { code: 'timeout' });
}
