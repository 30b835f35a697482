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
  | 'reset';

/** Something that happened in the service; `id` names the video, channel, feed or key, '' where there is none. */
export interface SandboxEvent {
  readonly type: EventType;
  readonly id: string;
}

/**
 * Tells those who listen what has happened, when it is in the records; what must be kept together with that is told within the same
 * transaction. A listener throws for one reason alone: there is no room for what it has to keep.
 */
export class Events {
  readonly #listeners = new Set<(event: SandboxEvent) => void>();

  emit(type: EventType, id: string): void {
    for (const listener of this.#listeners) listener({ type, id });
  }

  /** @returns how to end it */
  listen(listener: (event: SandboxEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
