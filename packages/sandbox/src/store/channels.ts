import type { DatabaseSync } from 'node:sqlite';
import { number, text, textOrNull, type Row } from './columns.ts';

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly defaultPlayerSettings: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly videoCount: number;
}

/** Changes to a channel. Undefined fields stay unchanged. */
interface ChannelChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>> | undefined;
}

/** The account's channels, in creation order. */
export class ChannelStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(channel: Pick<Channel, 'id' | 'name' | 'slug' | 'createdAtMs'>): void {
    this.#database
      .prepare(
        "INSERT INTO channels (id, name, slug, default_player_settings, created_at_ms) VALUES (?, ?, ?, '{}', ?)",
      )
      .run(channel.id, channel.name, channel.slug, channel.createdAtMs);
  }

  /** Removes a channel. @returns false if it does not exist @throws SQLite's error if it has videos or feeds */
  remove(id: string): boolean {
    return this.#database.prepare('DELETE FROM channels WHERE id = ?').run(id).changes > 0;
  }

  list(): Channel[] {
    return this.#database.prepare(`${SELECT} ORDER BY number`).all().map(toChannel);
  }

  find(id: string): Channel | undefined {
    const row = this.#database.prepare(`${SELECT} WHERE id = ?`).get(id);
    return row && toChannel(row);
  }

  /** Changes a channel. @returns the changed channel; undefined if it does not exist */
  change(id: string, change: ChannelChange): Channel | undefined {
    const before = this.find(id);
    if (!before) return undefined;
    const after = {
      ...before,
      name: change.name ?? before.name,
      description: change.description ?? before.description,
      defaultPlayerSettings: change.defaultPlayerSettings ?? before.defaultPlayerSettings,
    };
    this.#database
      .prepare('UPDATE channels SET name = ?, description = ?, default_player_settings = ? WHERE id = ?')
      .run(after.name, after.description, JSON.stringify(after.defaultPlayerSettings), id);
    return after;
  }
}

// assumed: video_count counts every video of the channel, whatever its status.
const SELECT = 'SELECT *, (SELECT COUNT(*) FROM videos WHERE channel_id = channels.id) AS video_count FROM channels';

function toChannel(row: Row): Channel {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    slug: text(row, 'slug'),
    description: textOrNull(row, 'description'),
    defaultPlayerSettings: JSON.parse(text(row, 'default_player_settings')) as Record<string, unknown>,
    createdAtMs: number(row, 'created_at_ms'),
    videoCount: number(row, 'video_count'),
  };
}
