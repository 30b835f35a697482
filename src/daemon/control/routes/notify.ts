import type { TargetAnswer } from '@dropcast/notify';
import { Hono } from 'hono';
import { limitedBody } from '../../../http/limited-body.ts';

export interface NotifyTested {
  readonly v: 1;
  readonly targets: readonly TargetAnswer[];
}

/** Sends a test message to the named target; null: to all targets. */
export type TestNotifications = (name: string | null) => Promise<readonly TargetAnswer[]>;

/** `POST /notify/test` with `{ target: NAME | null }`. */
export function notifyRoutes(test: TestNotifications): Hono {
  const app = new Hono();
  app.post('/notify/test', async (context) => {
    const body = await limitedBody(context.req.raw);
    if (body === null) return context.json({ error: { message: 'the name is too long' } }, 413);
    const { target } = JSON.parse(new TextDecoder().decode(body)) as { readonly target: string | null };
    const tested: NotifyTested = { v: 1, targets: await test(target) };
    return context.json(tested);
  });
  return app;
}
