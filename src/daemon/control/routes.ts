import { Hono } from 'hono';
import type { Context } from 'hono';
import { limitedBody, MOST_BODY_BYTES } from '../../http/limited-body.ts';
import { adoptionOf, confirmAdoption } from '../adoption/adoption.ts';
import type { Daemon } from '../daemon.ts';
import { viewOf } from '../../view/files/file-view.ts';
import { commandRoutes } from './routes/commands.ts';
import { eventRoutes } from './routes/events.ts';
import { notifyRoutes } from './routes/notify.ts';
import type { TestNotifications } from './routes/notify.ts';
import { fileRoutes } from './routes/files.ts';
import { planOf } from '../plan/plan.ts';
import { streamPlan } from '../plan/stream.ts';
import { worldOfDaemon } from '../plan/worlds.ts';
import type { ReloadPlan } from '../rules/plan-reload.ts';
import { endTestClip } from './routes/test-clip.ts';
import { dismiss } from '../commands/dismiss.ts';
import { sizeLimitOf } from '../../view/files/size-limit-view.ts';
import { suspectsOf } from '../../view/files/suspects.ts';
import { overviewView, statusView } from '../../view/picture/documents.ts';
import { mostOfAll } from '../../view/picture/take-picture.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import { nothingChanged } from '../../view/words/unavailable-words.ts';
import type { HistoryLine } from '../../ledger/history.ts';
import { redactedAddress } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { drain, forget, hostsOf } from '../commands/hosts.ts';
import type { DrainWanted } from '../commands/hosts.ts';

/** The result of a reload. */
export interface Reloaded {
  /** False: the new configuration has errors, so the old one stays in use. */
  readonly ok: boolean;
  /** Errors if the reload failed, otherwise warnings; one line each. */
  readonly problems: readonly string[];
  /** Path of the configuration file that the daemon reads. */
  readonly config: string;
  /** The changes that the reload would make, if it was only planned. */
  readonly plan?: ReloadPlan;
}

/** The limits and rights of a socket's users. */
interface Caller {
  /** Maximum number of files in one list. */
  readonly mostFiles: number;
  /** The right granted by a link to the status page. */
  readonly right: 'look' | 'change';
}

/** Members of the socket's group. One list of this size takes several megabytes of memory. */
const member: Caller = { mostFiles: 1_000, right: 'look' };

/** Root and the daemon's user. They may list every file it knows (the range of `ls --limit`). */
const owner: Caller = { mostFiles: 1_000_000, right: 'change' };

/** Functions of the process that the sockets offer in addition to the daemon's. */
export interface ControlPorts {
  /** Reads, checks and applies the configuration; if `isPlanned`, returns what applying it would change. */
  reload(how: { readonly isPlanned: boolean }): Promise<Reloaded>;
  /** Returns a single-use link that opens the status page with this right; null without a page. */
  pageLink(right: 'look' | 'change'): string | null;
  readonly testNotifications: TestNotifications;
}

/** Read-only routes for members of the socket's group. */
export function readRoutes(
  daemon: Daemon,
  { pageLink }: Pick<ControlPorts, 'pageLink'>,
  { mostFiles, right }: Caller = member,
): Hono {
  const { ledger } = daemon;
  const app = new Hono();
  app.onError((error, context) => refuse(context, 500, error.message));
  app.notFound((context) =>
    context.req.method === 'GET'
      ? refuse(context, 404, 'this daemon does not know the command because it runs another version; restart it')
      : refuse(context, 403, 'only root and the account that the daemon runs as may do this; run it with sudo'),
  );
  const now = (context: Context): Promise<LivePicture> =>
    daemon.picture({ isFresh: true, ...(context.req.query('all') === '1' && { listed: mostOfAll }) });
  app.get('/status', async (context) => context.json(statusView(await now(context))));
  app.get('/overview', async (context) => context.json(overviewView(await daemon.picture())));
  app.get('/picture', async (context) =>
    context.json(await (context.req.query('fresh') === '1' ? now(context) : daemon.picture())),
  );
  app.route('/', fileRoutes(daemon, mostFiles));
  app.get('/moves', async (context) => {
    return context.json({ v: 1, templates: await ledger.movedBy(context.req.query('folder') ?? '') });
  });
  app.get('/suspects', async (context) => context.json(await suspectsOf(ledger, daemon)));
  app.get('/size-limit', async (context) => context.json(await sizeLimitOf(ledger)));
  app.get('/adoption', async (context) => context.json(await adoptionOf(ledger, daemon.conductor.comparison())));
  app.route('/', eventRoutes(daemon));
  app.route('/', hostRoutes(daemon));
  app.get('/page', (context) => context.json({ v: 1, link: pageLink(right) }));
  return app;
}

/** All routes, for root and the daemon's own user. */
export function controlRoutes(daemon: Daemon, ports: ControlPorts): Hono {
  const app = readRoutes(daemon, ports, owner);
  // All routes below change something.
  app.use(async (context, next) => {
    const why = isLocal(context.req) ? null : (daemon.fleet?.whyAway() ?? null);
    return why === null ? next() : refuse(context, 503, nothingChanged(why));
  });
  app.route('/', commandRoutes(daemon, bodyOf));
  app.route('/', hostCommandRoutes(daemon, bodyOf));
  app.get('/facts', async (context) => context.json(await factsInNeed(daemon)));
  app.post('/suspects/dismiss', (context) =>
    withBody(context, async (body) =>
      context.json(await dismiss(daemon, body as { readonly names: readonly string[] })),
    ),
  );
  app.post('/add', (context) =>
    withBody(context, async (body) => {
      const { path } = body as { readonly path: string };
      const result = await daemon.folders.add(path);
      if (!result.ok) return context.json({ v: 1, ok: false, why: result.why });
      const [facts] = await daemon.ledger.find(path);
      return context.json({ v: 1, ok: true, as: result.as, file: facts === undefined ? null : viewOf(daemon, facts) });
    }),
  );
  app.post('/plan', (context) =>
    withBody(context, async (body) => {
      const wanted = body as { readonly path: string | null; readonly isHashing: boolean };
      const world = await worldOfDaemon(daemon);
      return streamPlan((options) => planOf(world, { ...options, ...wanted }));
    }),
  );
  app.post('/adoption/confirm', async (context) =>
    context.json(await confirmAdoption(daemon.ledger, (id, event) => daemon.conductor.apply(id, event))),
  );
  app.post('/test-clip/ended', (context) =>
    withBody(context, async (body) => context.json(await endTestClip(daemon, body as { readonly id: string }))),
  );
  // Counts a request that a command is about to send with the daemon's key.
  app.post('/request', async (context) => {
    await daemon.gate.take('finish', AbortSignal.timeout(longestTurnMs));
    return context.json({ v: 1 });
  });
  app.route('/', notifyRoutes(ports.testNotifications));
  app.post('/reload', (context) =>
    withBody(context, async (body) => {
      const { plan: isPlanned = false } = body as { readonly plan?: boolean };
      return context.json({ v: 1, ...(await ports.reload({ isPlanned })) });
    }),
  );
  return app;
}

/** How long a command waits for the daemon's permission to send a request to the service. */
const longestTurnMs = 20_000;

/** Whether a request needs no database or only reads. */
function isLocal({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method !== 'POST' || path === '/plan' || path === '/reload' || path === '/notify/test';
}

/** Bodies are not validated: both ends are the same program. */
async function withBody(context: Context, answer: (body: unknown) => Promise<Response>): Promise<Response> {
  const body = await bodyOf(context);
  return body instanceof Response ? body : answer(body);
}

/** @returns the parsed body, or the response that rejects it */
async function bodyOf(context: Context): Promise<unknown> {
  const body = await limitedBody(context.req.raw);
  if (body !== null) return JSON.parse(new TextDecoder().decode(body) || '{}') as unknown;
  return refuse(context, 413, `a command may have ${MOST_BODY_BYTES / 1024} KiB: name fewer files at once`);
}

function refuse(context: Context, status: 400 | 403 | 404 | 413 | 500 | 503, message: string): Response {
  // Closing the connection avoids waiting for the rest of the oversized body.
  return context.json({ error: { message } }, status, status === 413 ? { connection: 'close' } : {});
}

/** The response to `GET /facts`. */
interface FactsView {
  readonly v: 1;
  readonly files: readonly { readonly facts: Facts; readonly history: readonly HistoryLine[] }[];
}

const mostFiles = 200;

/**
 * `GET /facts`: the raw rows of the newest files that need attention. Upload addresses, which grant access to anybody,
 * are omitted.
 */
async function factsInNeed({ ledger }: Pick<Daemon, 'ledger'>): Promise<FactsView> {
  const rows = await ledger.rows({
    group: 'any',
    where: { states: ['failed', 'held'] },
    limit: mostFiles,
    newestFirst: true,
  });
  const files = await Promise.all(
    rows.map(async (facts) => ({
      facts: { ...facts, ...redactedAddress(facts) },
      history: await ledger.history(facts.id),
    })),
  );
  return { v: 1, files };
}

/** `GET /hosts`: the members of the fleet. */
function hostRoutes({ fleet, ledger }: Pick<Daemon, 'fleet' | 'ledger'>): Hono {
  const app = new Hono();
  app.get('/hosts', async (context) => context.json(await hostsOf(fleet, ledger)));
  return app;
}

/**
 * `POST /hosts/drain`, `/hosts/forget`.
 *
 * @param readBody returns a request's body, or the response that rejects it
 */
function hostCommandRoutes({ fleet }: Pick<Daemon, 'fleet'>, readBody: (context: Context) => Promise<unknown>): Hono {
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
