export type EventType =
  | 'video.created'
  | 'video.updated'
  | 'video.processing'
  | 'video.ready'
  | 'video.failed'
  | 'video.deleted'
  | 'video.played'
  | 'channel.updated'
  | 'feed.published'
  | 'key.changed'
  | 'webhook.changed'
  | 'faults.changed'
  | 'clock.changed'
  | 'request'
  | 'admin.changed'
  | 'reset';

/** Something that happened in the service. `id` names the video, channel, feed or key; '' if there is none. */
export interface SandboxEvent {
  readonly type: EventType;
  readonly id: string;
}

/**
 * Publishes events after the records have changed. If listeners must store something, the event is emitted within the
 * same transaction. A listener throws only if there is no room for what it stores.
 */
export class Events {
  readonly #listeners = new Set<(event: SandboxEvent) => void>();

  emit(type: EventType, id: string): void {
    for (const listener of this.#listeners) listener({ type, id });
  }

  /** @returns a function that unsubscribes the listener */
  listen(listener: (event: SandboxEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
