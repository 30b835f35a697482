import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Daemon } from '../../daemon.ts';
import { ignore } from '../../commands/ignore.ts';
import type { IgnoreWanted } from '../../commands/ignore.ts';
import { adoptFolder, pause, resume } from '../../commands/pause.ts';
import type { PauseWanted, ResumeWanted } from '../../commands/pause.ts';
import { publish } from '../../commands/publish.ts';
import { reapply } from '../../commands/reapply.ts';
import { retry } from '../../commands/retry.ts';
import type { RetryWanted } from '../../commands/retry.ts';
import type { WantedFiles } from '../../commands/wanted.ts';

/** Whether a command only reports what it would do. */
interface Planned {
  readonly isPlanned?: boolean;
}

/**
 * Operator commands on files, folders and feeds: `POST /ignore`, `/retry`, `/reapply`, `/publish`, `/pause`, `/resume`,
 * `/adopt`.
 *
 * @param readBody returns a request's body, or the response that rejects it
 */
export function commandRoutes(daemon: Daemon, readBody: (context: Context) => Promise<unknown>): Hono {
  const app = new Hono();
  const post = (path: string, answer: (body: unknown) => Promise<object>): void => {
    app.post(path, async (context) => {
      const body = await readBody(context);
      return body instanceof Response ? body : context.json(await answer(body));
    });
  };
  // Bodies are not validated: both ends are the same program.
  post('/ignore', (body) => ignore(daemon, body as IgnoreWanted, body as Planned));
  post('/retry', (body) => retry(daemon, body as RetryWanted, body as Planned));
  post('/reapply', (body) => reapply(daemon, body as WantedFiles, body as Planned));
  post('/publish', (body) => publish(daemon, body as { readonly feeds: readonly string[] }, body as Planned));
  post('/pause', (body) => pause(daemon, body as PauseWanted));
  post('/resume', async (body) => ({ v: 1, ...(await resume(daemon, body as ResumeWanted)) }));
  post('/adopt', async (body) => ({
    v: 1,
    ...(await adoptFolder(daemon, (body as { readonly folder: string }).folder)),
  }));
  return app;
}
