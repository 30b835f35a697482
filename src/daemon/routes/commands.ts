import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Daemon } from '../daemon.ts';
import { ignore } from '../commands/ignore.ts';
import type { IgnoreWanted } from '../commands/ignore.ts';
import { pause, resume } from '../commands/pause.ts';
import type { PauseWanted, ResumeWanted } from '../commands/pause.ts';
import { publish } from '../commands/publish.ts';
import { reapply } from '../commands/reapply.ts';
import { retry } from '../commands/retry.ts';
import type { RetryWanted } from '../commands/retry.ts';
import type { WantedFiles } from '../commands/wanted.ts';

/** What a command is sent with: which files, and whether it is only to say what it would do. */
type Planned<T> = T & { readonly isPlanned?: boolean };

/**
 * What an operator can do to files, folders and feeds: `POST /ignore`, `/retry`, `/reapply`, `/publish`, `/pause`, `/resume`.
 *
 * @param readBody the body of a request, or the answer that refuses it
 */
export function commandRoutes(daemon: Daemon, readBody: (context: Context) => Promise<unknown>): Hono {
  const app = new Hono();
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what is sent has the type that is asked for
  const post = <T>(path: string, answer: (body: T) => Promise<object>): void => {
    app.post(path, async (context) => {
      const body = await readBody(context);
      // The same program is on both ends, so what it sends has the right form.
      return body instanceof Response ? body : context.json(await answer(body as T));
    });
  };
  post<Planned<IgnoreWanted>>('/ignore', (body) => ignore(daemon, body, body));
  post<Planned<RetryWanted>>('/retry', (body) => retry(daemon, body, body));
  post<Planned<WantedFiles>>('/reapply', (body) => reapply(daemon, body, body));
  post<Planned<{ feeds: readonly string[] }>>('/publish', (body) => publish(daemon, body, body));
  post<PauseWanted>('/pause', (body) => pause(daemon, body));
  post<ResumeWanted>('/resume', async (body) => ({ v: 1, ...(await resume(daemon, body)) }));
  return app;
}
