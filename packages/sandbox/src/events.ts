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

/** Something that happened in the service; `id` names the video, channel, feed or key, '' where there is none. */
export interface SandboxEvent {
  readonly type: EventType;
  readonly id: string;
}

/**
 * Publishes events after the records have changed. An event whose listeners must store something is emitted within the
 * same transaction. A listener throws only when it has no room to store that.
 */
export class Events {
  readonly #listeners = new Set<(event: SandboxEvent) => void>();

  emit(type: EventType, id: string): void {
    for (const listener of this.#listeners) listener({ type, id });
  }

  /** @returns a function that ends it */
  listen(listener: (event: SandboxEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
