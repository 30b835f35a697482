import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import { isoTime } from '../http/wire.ts';
import type { ApiKey, KeyStore } from '../store/keys.ts';

export interface KeyDeskParts {
  readonly keys: KeyStore;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly events: Pick<Events, 'emit'>;
}

/** A key without its value. */
export type KeyView = ReturnType<typeof keyView>;

/** Where keys are created, listed, audited and revoked (api-spec section 5, rules 2 to 4). */
export class KeyDesk {
  readonly #parts: KeyDeskParts;

  /** @param parts the keys, the clock that dates their changes, and the events that announce them */
  constructor(parts: KeyDeskParts) {
    this.#parts = parts;
  }

  list(): KeyView[] {
    return this.#parts.keys.list().map(keyView);
  }

  /** @returns the key with its value, which cannot be read again */
  create(name: string, isReadOnly: boolean): KeyView & { readonly key: string } {
    const { keys, clock, events } = this.#parts;
    const value = `sk_sandbox_${randomBytes(24).toString('base64url')}`;
    const view = keyView(keys.add({ value, name, isReadOnly }, clock.nowMs()));
    events.emit('key.changed', view.id);
    return { ...view, key: value };
  }

  /** Revokes the key; revoking it again changes nothing. @returns undefined for an unknown id */
  revoke(id: string): KeyView | undefined {
    const { keys, clock, events } = this.#parts;
    const number = isKeyId(id) ? Number(id.slice('key_'.length)) : 0;
    if (keys.revoke(number, clock.nowMs())) events.emit('key.changed', id);
    const key = keys.get(number);
    return key && keyView(key);
  }
}

/** Whether it has the form `key_NUMBER`. */
export function isKeyId(id: string): boolean {
  return /^key_\d{1,15}$/.test(id);
}

/** The id of the key with this number. */
export function keyId(number: number): string {
  return `key_${number}`;
}

function keyView(key: ApiKey) {
  return {
    id: keyId(key.id),
    name: key.name,
    hint: `${key.hint}…`,
    read_only: key.isReadOnly,
    created_at: isoTime(key.createdAtMs),
    revoked_at: isoTimeOrNull(key.revokedAtMs),
    use_count: key.useCount,
    last_used_at: isoTimeOrNull(key.lastUsedAtMs),
    last_used_from: key.lastUsedFrom,
  };
}

function isoTimeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : isoTime(atMs);
}
