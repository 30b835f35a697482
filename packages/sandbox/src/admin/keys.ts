import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, nameField } from '../http/input.ts';
import type { Endpoint } from '../http/handler.ts';
import type { KeyDesk } from './key-desk.ts';

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
