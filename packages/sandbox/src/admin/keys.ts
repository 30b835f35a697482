import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import { isoTime, isoTimeOrNull } from '../http/wire.ts';
import type { ApiKey, KeyStore } from '../store/keys.ts';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, nameField, type Endpoint } from '../http/input.ts';

interface KeyDeskParts {
  readonly keys: KeyStore;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly events: Pick<Events, 'emit'>;
}

/** A key without its secret value. */
export type KeyView = ReturnType<typeof keyView>;

/** Creates, lists, audits and revokes keys (api-spec section 5, rules 2 to 4). */
export class KeyDesk {
  readonly #parts: KeyDeskParts;

  /** @param parts the keys, the clock for the time of each change, and the events that announce changes */
  constructor(parts: KeyDeskParts) {
    this.#parts = parts;
  }

  list(): KeyView[] {
    return this.#parts.keys.list().map(keyView);
  }

  /** @returns the key with its value, which cannot be retrieved again */
  create(name: string, isReadOnly: boolean): KeyView & { readonly key: string } {
    const { keys, clock, events } = this.#parts;
    const value = `sk_sandbox_${randomBytes(24).toString('base64url')}`;
    const view = keyView(keys.add({ value, name, isReadOnly }, clock.nowMs()));
    events.emit('key.changed', view.id);
    return { ...view, key: value };
  }

  /** Revokes the key. Idempotent. @returns undefined for an unknown id */
  revoke(id: string): KeyView | undefined {
    const { keys, clock, events } = this.#parts;
    const number = isKeyId(id) ? Number(id.slice('key_'.length)) : 0;
    if (keys.revoke(number, clock.nowMs())) events.emit('key.changed', id);
    const key = keys.get(number);
    return key && keyView(key);
  }
}

/** Whether the id has the form `key_NUMBER`. */
export function isKeyId(id: string): boolean {
  return /^key_\d{1,15}$/.test(id);
}

/** Returns the id of the key with this number. */
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

export function keyEndpoints(desk: KeyDesk): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/keys',
      says: 'Lists the API keys: when each was created and revoked, how often it was used, and when and from where it was last used.',
      handler: (context) => context.json({ data: desk.list() }),
    },
    {
      method: 'POST',
      path: '/_sandbox/keys',
      says: 'Creates an API key from {"name", "read_only"?}. Only this answer has its value.',
      handler: async (context) => {
        const { name, read_only: isReadOnly } = await jsonBody(context.req.raw, newKey);
        return context.json({ data: desk.create(name, isReadOnly) }, 201, { 'Cache-Control': 'no-store' });
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/keys/:id',
      says: 'Revokes an API key at once. Revoking it again changes nothing.',
      handler: (context) => {
        const key = desk.revoke(context.req.param('id') ?? '');
        if (!key) throw new ApiError('not_found', 'There is no such key.');
        return context.json({ data: key });
      },
    },
  ];
}

const newKey = z.strictObject({ name: nameField(200), read_only: z.boolean('must be true or false').default(false) });
