import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Daemon } from '../../daemon.ts';
import { drain, forget, hostsOf } from '../../../fleet/host-commands.ts';
import type { DrainWanted } from '../../../fleet/host-commands.ts';

/** `GET /hosts`: the members of the fleet. */
export function hostRoutes({ fleet, ledger }: Pick<Daemon, 'fleet' | 'ledger'>): Hono {
  const app = new Hono();
  app.get('/hosts', async (context) => context.json(await hostsOf(fleet, ledger)));
  return app;
}

/** `POST /hosts/drain`, `/hosts/forget`. @param readBody the body of a request, or the answer that refuses it */
export function hostCommandRoutes(
  { fleet }: Pick<Daemon, 'fleet'>,
  readBody: (context: Context) => Promise<unknown>,
): Hono {
  const app = new Hono();
  app.post('/hosts/drain', async (context) => {
    const body = await readBody(context);
    return body instanceof Response ? body : context.json(await drain(fleet, body as DrainWanted));
  });
  app.post('/hosts/forget', async (context) => {
    const body = await readBody(context);
    return body instanceof Response ? body : context.json(await forget(fleet, body as { readonly name: string }));
  });
  return app;
}
