import { ApiError } from '../http/api-error.ts';
import { jsonBody, type Endpoint } from '../http/input.ts';
import { isoTimeOrNull } from '../http/wire.ts';
import type { Services } from '../services.ts';
import { faultRule, faultRules } from './fault-rule.ts';
import type { Fault } from './faults.ts';

/** Endpoints for faults: list, add one, replace all, remove one or all. */
export function faultEndpoints({ faults }: Pick<Services, 'faults'>): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/faults',
      says: 'Lists the faults, and how often each was hit.',
      handler: (context) => context.json({ data: faults.list().map(faultItem) }),
    },
    {
      method: 'POST',
      path: '/_sandbox/faults',
      says: 'Adds a fault, for example {"kind": "status", "status": 503, "operation": "videos.get", "times": 2}.',
      handler: async (context) =>
        context.json({ data: faultItem(faults.add(await jsonBody(context.req.raw, faultRule))) }, 201),
    },
    {
      method: 'PUT',
      path: '/_sandbox/faults',
      says: 'Replaces all faults with these, [{"kind"}, …].',
      handler: async (context) =>
        context.json({ data: faults.replace(await jsonBody(context.req.raw, faultRules)).map(faultItem) }),
    },
    {
      method: 'DELETE',
      path: '/_sandbox/faults',
      says: 'Removes all faults.',
      handler: (context) => {
        faults.clear();
        return context.body(null, 204);
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/faults/:id',
      says: 'Removes a fault.',
      handler: (context) => {
        if (!faults.remove(context.req.param('id') ?? '')) throw new ApiError('not_found', 'There is no such fault.');
        return context.body(null, 204);
      },
    },
  ];
}

/** Formats a rule with its defaults, and how often it has matched and hit. */
function faultItem({ id, rule, expiresAtMs, calls, applied }: Fault) {
  return { id, ...rule, expires_at: isoTimeOrNull(expiresAtMs), calls, applied };
}
