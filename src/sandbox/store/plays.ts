import type { DatabaseSync } from 'node:sqlite';

/** Who watched which video when, and how far. */
export class PlayStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The play is over when its video is deleted: its assets go with it (api-spec section 3). */
  forget(videoId: string): void {
    this.#database.prepare('DELETE FROM plays WHERE video_id = ?').run(videoId);
  }
}
