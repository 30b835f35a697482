import type { View } from '@dropcast/pages';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Outcomes } from './files/outcomes.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';

/** The content of a view, and its reader. */
export interface PageWorld {
  readonly daemon: Daemon;
  /** The one picture that all parts of this page show. */
  picture(): Promise<LivePicture>;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether the reader may change things. Other readers see no button. */
  readonly mayChange: boolean;
  /** Results of the last commands on many files. */
  readonly outcomes: Outcomes;
}

/** The request of the reader. */
export interface Asked {
  readonly query: URLSearchParams;
  /** A part of the path, decoded: of `/files/:id`, `id`. */
  part(name: string): string;
}

export type ViewMaker = (world: PageWorld, asked: Asked) => View<PageEvent> | Promise<View<PageEvent>>;

/** The fields of a form. */
export interface Sent extends Asked {
  readonly form: URLSearchParams;
}

/** @returns the path that the browser goes to next @throws {PageError} when it cannot be done, in words */
export type Action = (world: PageWorld, sent: Sent) => Promise<string>;

/**
 * Causes of a change in a view: the events of the daemon, a line of news, a reload of the configuration, a command on
 * this page or elsewhere (`command`), and `progress`, twice a second while uploads run.
 */
export type PageEvent = DropcastEvent['type'] | 'news' | 'reload' | 'command' | 'progress';

/** Thrown when a view or an action cannot be carried out, for a reason that the reader understands. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: 400 | 403 | 404 | 409;

  /** @param message one sentence: why, and what to do */
  constructor(status: PageError['status'], message: string) {
    super(message);
    this.status = status;
  }
}
