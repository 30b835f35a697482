import { Hono } from 'hono';
import { ApiError } from '../http/api-error.ts';
import { jsonBody } from '../http/input.ts';
import { isoTime } from '../http/wire.ts';
import type { Services } from '../services.ts';
import { faultRule, faultRules } from './fault-rule.ts';
import type { Fault } from './faults.ts';

/** Admin routes for faults: list, add one, replace all, remove one or all. The parent route checks access. */
export function createFaultRoutes({ faults }: Pick<Services, 'faults'>): Hono {
  const routes = new Hono();
  routes.get('/_sandbox/faults', (context) => context.json({ data: faults.list().map(faultItem) }));
  routes.post('/_sandbox/faults', async (context) => {
    const rule = await jsonBody(context.req.raw, faultRule);
    return context.json({ data: faultItem(faults.add(rule)) }, 201);
  });
  routes.put('/_sandbox/faults', async (context) => {
    const rules = await jsonBody(context.req.raw, faultRules);
    return context.json({ data: faults.replace(rules).map(faultItem) });
  });
  routes.delete('/_sandbox/faults', (context) => {
    faults.clear();
    return context.body(null, 204);
  });
  routes.delete('/_sandbox/faults/:id', (context) => {
    if (!faults.remove(context.req.param('id'))) throw new ApiError('not_found', 'There is no such fault.');
    return context.body(null, 204);
  });
  return routes;
}

/** Formats a rule with its defaults, and how often it has matched and hit. */
function faultItem({ id, rule, expiresAtMs, calls, applied }: Fault) {
  return { id, ...rule, expires_at: expiresAtMs === null ? null : isoTime(expiresAtMs), calls, applied };
}
