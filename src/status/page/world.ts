import type { Theme, View } from '@dropcast/pages';
import type { Daemon } from '../../daemon/daemon.ts';
import type { ControlPorts } from '../../daemon/control/routes.ts';
import type { PageMemory } from './memory.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';

/** The data and the reader's rights that views and actions use. */
export interface PageWorld {
  readonly daemon: Daemon;
  /** Returns the picture that all parts of this page share. */
  picture(): Promise<LivePicture>;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether the reader may change things; otherwise no buttons are shown. */
  readonly mayChange: boolean;
  /** The reader's colour scheme; undefined: that of the system. */
  readonly theme: Theme | undefined;
  readonly memory: PageMemory;
  readonly testNotifications: ControlPorts['testNotifications'];
}

/** The reader's request. */
export interface Asked {
  readonly query: URLSearchParams;
  /** Returns a decoded part of the path: `id` in `/files/:id`. */
  part(name: string): string;
}

export type ViewMaker = (world: PageWorld, asked: Asked) => View<PageEvent> | Promise<View<PageEvent>>;

/** A submitted form. */
export interface Sent extends Asked {
  readonly form: URLSearchParams;
}

/**
 * @returns the path to redirect the browser to @throws {PageError} when the action is not possible; its message says
 *   why
 */
export type Action = (world: PageWorld, sent: Sent) => Promise<string>;

/**
 * Triggers that change a view: the daemon's events, a line of news, a reload of the configuration, a command on this
 * page or elsewhere (`command`), and `progress`, twice a second during uploads.
 */
export type PageEvent = DropcastEvent['type'] | 'news' | 'reload' | 'command' | 'progress';

/** Thrown when a view or an action fails for a reason that the reader understands. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: 400 | 403 | 404 | 409;

  /** @param message one sentence: the reason, and what to do */
  constructor(status: PageError['status'], message: string) {
    super(message);
    this.status = status;
  }
}
