import { z } from 'zod';
import { jsonBody } from '../http/input.ts';
import type { RequestWindow } from '../store/request-window.ts';
import type { Endpoint } from '../http/handler.ts';

/** Endpoints for the rate limit of api-spec section 8, which the service raises on request. */
export function rateLimitEndpoints(requestWindow: RequestWindow): Endpoint[] {
  const view = () => ({ requests_per_hour: requestWindow.limit });
  return [
    {
      method: 'GET',
      path: '/_sandbox/rate-limit',
      says: 'Returns how many requests a key may send in any rolling hour.',
      handler: (context) => context.json({ data: view() }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/rate-limit',
      says: 'Sets the limit with {"requests_per_hour": 50}, for every key, at once; past requests count. Lasts until the process ends.',
      handler: async (context) => {
        const { requests_per_hour: limit } = await jsonBody(context.req.raw, setting);
        requestWindow.limit = limit;
        return context.json({ data: view() });
      },
    },
  ];
}

const range = 'must be a whole number from 1 to 1000000000';
const setting = z.strictObject({ requests_per_hour: z.int(range).min(1, range).max(1_000_000_000, range) });
