import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostedVideo } from '../../e2e/video-host.ts';
import { isCreate } from '../../e2e/answers.ts';
import type { World } from '../world/world.ts';
import { percentRead } from './moments.ts';
import type { Moment } from './moments.ts';

/** With 32 slots, eight creates are sent at a time: while these wait for their answers, all other files are queued. */
export const plugs = Array.from({ length: 8 }, (_, n) => `plug-${n + 1}`);

/** The service keeps each file at its moment until it is told to let go. */
export class Holds implements Disposable {
  /** Feeds are not published from now on. */
  isPublishHeld = false;
  readonly #moments: ReadonlyMap<string, Moment>;
  readonly #finishing: NodeJS.Timeout;
  readonly #goOn: (() => void)[] = [];
  readonly #held = new Set<string>();
  readonly #bodies: IncomingMessage[] = [];
  #isOpen = false;

  /** @param moments by title; needs a host that never ends processing by itself */
  constructor(world: World, moments: ReadonlyMap<string, Moment>) {
    this.#moments = moments;
    const { faults, host } = world.service;
    faults.api = (request, _, body) => this.#api(request, body);
    faults.upload = (request, response, id) => this.#upload(request, response, titleOf(host.videos.get(id)));
    this.#finishing = setInterval(() => {
      for (const video of host.videos.values())
        if (video.status === 'processing' && !this.#holds(titleOf(video), 'in processing')) video.status = 'ready';
    }, 20);
  }

  isHeld(title: string): boolean {
    return this.#held.has(title);
  }

  /** The client was killed. What the kernel still has of its bodies is lost with it: nobody could tell whether it arrives later. */
  lose(): void {
    for (const request of this.#bodies.splice(0)) request.socket.destroy();
  }

  /** Whatever is held goes on, and nothing is held any more. */
  open(): void {
    this.#isOpen = true;
    for (const goOn of this.#goOn.splice(0)) goOn();
  }

  [Symbol.dispose](): void {
    this.open();
    clearInterval(this.#finishing);
  }

  #holds(title: string, moment: Moment): boolean {
    return !this.#isOpen && this.#moments.get(title) === moment;
  }

  async #api(request: IncomingMessage, body: Buffer): Promise<boolean> {
    if (this.#isOpen) return false;
    const isPublish = this.isPublishHeld && (request.url ?? '').endsWith('/publish');
    const plug = isCreate(request) ? plugs.find((one) => body.includes(one)) : undefined;
    if (!isPublish && plug === undefined) return false;
    this.#held.add(plug ?? 'publish');
    await new Promise<void>((resolve) => this.#goOn.push(resolve));
    return false;
  }

  #upload(request: IncomingMessage, response: ServerResponse, title: string): false {
    const percent = percentRead[this.#moments.get(title) ?? 'done'];
    if (percent !== undefined && !this.#isOpen) this.#readUpTo(percent, request, title);
    if (this.#holds(title, 'all bytes sent')) {
      const end = response.end.bind(response);
      response.end = () => {
        this.#held.add(title);
        this.#goOn.push(() => end());
        return response;
      };
    }
    return false;
  }

  #readUpTo(percent: number, request: IncomingMessage, title: string): void {
    const stopAt = (Number(request.headers['content-length']) * percent) / 100;
    let read = 0;
    const count = (part: Buffer): void => {
      read += part.length;
      if (read < stopAt || this.#isOpen) return;
      request.off('data', count);
      request.pause();
      this.#held.add(title);
      this.#bodies.push(request);
      this.#goOn.push(() => request.resume());
    };
    // Behind the listener of the service, which must see every byte, and before the first byte: a busy machine delivers the whole body at
    // once.
    request.on('newListener', function behind(event) {
      if (event !== 'data') return;
      request.off('newListener', behind);
      queueMicrotask(() => request.on('data', count));
    });
  }
}

/** The title without what a sidecar adds. */
function titleOf(video: HostedVideo | undefined): string {
  return (video?.title ?? '').replace(/ (?:early|late)$/, '');
}
