import type { TargetAnswer } from '@dropcast/notify';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { limitedBody, MOST_BODY_BYTES } from '../../http/limited-body.ts';
import { redactedAddress } from '../../pipeline/file/facts.ts';
import { auditOf } from '../../view/audit/audit-view.ts';
import { viewOf } from '../../view/files/file-view.ts';
import { filesOf } from '../../view/files/files-view.ts';
import { queryWords, readQuery } from '../../view/files/query.ts';
import { foundOf } from '../../view/files/show-view.ts';
import { sizeLimitOf } from '../../view/files/size-limit-view.ts';
import { suspectsOf } from '../../view/files/suspects.ts';
import { overviewView, statusView } from '../../view/picture/documents.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import { mostOfAll } from '../../view/picture/take-picture.ts';
import { nothingChanged } from '../../view/words/unavailable-words.ts';
import { adoptionOf, confirmAdoption } from '../commands/adopt.ts';
import type { AuditWanted } from '../../pipeline/file/audit.ts';
import { dismiss } from '../commands/dismiss.ts';
import { drain, forget, hostsOf } from '../commands/hosts.ts';
import type { DrainWanted } from '../commands/hosts.ts';
import { first } from '../commands/first.ts';
import { ignore } from '../commands/ignore.ts';
import { adoptFolder, pause, resume } from '../commands/pause.ts';
import type { PauseWanted, ResumeWanted } from '../commands/pause.ts';
import { publish } from '../commands/publish.ts';
import { reapply } from '../commands/reapply.ts';
import { retry } from '../commands/retry.ts';
import type { RetryWanted } from '../commands/retry.ts';
import { undo, undoOf } from '../commands/undo.ts';
import type { UndoWanted } from '../commands/undo.ts';
import type { CommandOptions, MarkWanted, WantedFiles } from '../commands/wanted.ts';
import type { Daemon } from '../daemon.ts';
import { planOf } from '../plan/plan.ts';
import { streamPlan } from '../plan/stream.ts';
import { worldOfDaemon } from '../plan/worlds.ts';
import type { ReloadPlan } from '../rules/plan-reload.ts';
import { eventRoutes } from './event-routes.ts';

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

/** The result of `POST /audit`. `begun` is false if only the cost was asked for, or an audit is running. */
export type AuditBegun = Awaited<ReturnType<typeof beginAudit>>;

/** The result of `POST /notify/test`. */
export interface NotifyTested {
  readonly v: 1;
  readonly targets: readonly TargetAnswer[];
}

/** The result of `POST /test-clip/ended`. `ok` is false if there is no such file. */
export type TestClipEnded = Awaited<ReturnType<typeof endTestClip>>;

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
  /** Sends a test message to the named notification target; null: to all targets. */
  testNotifications(name: string | null): Promise<readonly TargetAnswer[]>;
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
  app.get('/files', (context) => listFiles(context, daemon, mostFiles));
  app.get('/file', async (context) => context.json(await foundOf(ledger, daemon, context.req.query('name') ?? '')));
  app.get('/settling', (context) => context.json(settlingOf(daemon, context.req.query('path') ?? '')));
  app.get('/moves', async (context) =>
    context.json({ v: 1, templates: await ledger.movedBy(context.req.query('folder') ?? '') }),
  );
  app.get('/suspects', async (context) => context.json(await suspectsOf(ledger, daemon)));
  app.get('/size-limit', async (context) => context.json(await sizeLimitOf(ledger)));
  app.get('/adoption', async (context) => context.json(await adoptionOf(ledger, daemon.conductor.comparison())));
  // Naming all files of a large archive takes many megabytes of memory.
  app.get('/audit', async (context) =>
    context.json(await auditOf(ledger, daemon.audit.trouble(), context.req.query('all') === '1' && right === 'change')),
  );
  app.route('/', eventRoutes(daemon));
  app.get('/hosts', async (context) => context.json(await hostsOf(daemon.fleet, ledger)));
  app.get('/undo', async (context) => context.json(await undoOf(daemon)));
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
  app.get('/facts', async (context) => context.json(await factsInNeed(daemon)));
  // Bodies are not validated: both ends are the same program.
  const post = (path: string, act: (body: never) => Promise<object>): void => {
    app.post(path, async (context) => {
      const body = await limitedBody(context.req.raw);
      if (body === null)
        return refuse(context, 413, `a command may have ${MOST_BODY_BYTES / 1024} KiB: name fewer files at once`);
      const result = await act(JSON.parse(new TextDecoder().decode(body) || '{}') as never);
      return result instanceof Response ? result : context.json(result);
    });
  };
  post('/ignore', (body: MarkWanted & CommandOptions) => ignore(daemon, body, body));
  post('/first', (body: MarkWanted & CommandOptions) => first(daemon, body, body));
  post('/retry', (body: RetryWanted & CommandOptions) => retry(daemon, body, body));
  post('/reapply', (body: WantedFiles & CommandOptions) => reapply(daemon, body, body));
  post('/undo', (body: UndoWanted) => undo(daemon, body));
  post('/undo/stop', (body: { readonly by: string }) => undoOf(daemon, body.by));
  post('/publish', (body: { readonly feeds: readonly string[] } & CommandOptions) => publish(daemon, body, body));
  post('/pause', (body: PauseWanted) => pause(daemon, body));
  post('/resume', async (body: ResumeWanted) => ({ v: 1, ...(await resume(daemon, body)) }));
  post('/adopt', async ({ folder }: { readonly folder: string }) => ({ v: 1, ...(await adoptFolder(daemon, folder)) }));
  post('/hosts/drain', (body: DrainWanted) => drain(daemon.fleet, body));
  post('/hosts/forget', (body: { readonly name: string }) => forget(daemon.fleet, body));
  post('/suspects/dismiss', (body: { readonly names: readonly string[] }) => dismiss(daemon, body));
  post('/add', ({ path }: { readonly path: string }) => addFile(daemon, path));
  post('/plan', async (wanted: { readonly path: string | null; readonly isHashing: boolean }) => {
    const world = await worldOfDaemon(daemon);
    return streamPlan((options) => planOf(world, { ...options, ...wanted }));
  });
  post('/adoption/confirm', () => confirmAdoption(daemon.ledger, (id, event) => daemon.conductor.apply(id, event)));
  post('/audit', (body: AuditAsked) => beginAudit(daemon, body));
  post('/audit/stop', async () => ({ v: 1, stopped: await daemon.audit.stop() }));
  post('/test-clip/ended', ({ id }: { readonly id: string }) => endTestClip(daemon, id));
  // Counts a request that a command is about to send with the daemon's key.
  post('/request', async () => {
    await daemon.gate.take('finish', AbortSignal.timeout(longestTurnMs));
    return { v: 1 };
  });
  post('/notify/test', async ({ target }: { readonly target: string | null }): Promise<NotifyTested> => {
    return { v: 1, targets: await ports.testNotifications(target) };
  });
  post('/reload', async ({ plan: isPlanned = false }: { readonly plan?: boolean }) => {
    return { v: 1, ...(await ports.reload({ isPlanned })) };
  });
  return app;
}

/** How long a command waits for the daemon's permission to send a request to the service. */
const longestTurnMs = 20_000;

/** Whether a request needs no database or only reads. */
function isLocal({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method !== 'POST' || path === '/plan' || path === '/reload' || path === '/notify/test';
}

function refuse(context: Context, status: 400 | 403 | 404 | 413 | 500 | 503, message: string): Response {
  // Closing the connection avoids waiting for the rest of the oversized body.
  return context.json({ error: { message } }, status, status === 413 ? { connection: 'close' } : {});
}

/**
 * A page of files, filtered as in `queryWords`; `after`, `before` (cursors), `limit`, `counts=1`.
 *
 * @param mostFiles maximum number of files in one list
 */
async function listFiles(context: Context, daemon: Daemon, mostFiles: number): Promise<Response> {
  const asked = context.req.query();
  const limit = Number(asked['limit'] ?? 100);
  const words = Object.fromEntries(queryWords.map((word) => [word, asked[word]]));
  const { selection, problems } = readQuery(words, Date.now());
  const tooMany = `one list may have 1 to ${mostFiles} files; root and the user of the daemon get more`;
  const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= mostFiles;
  const wrong = [...problems, ...(isLimit ? [] : [tooMany])];
  if (wrong.length > 0) return refuse(context, 400, wrong.join('\n'));
  const range = { after: asked['after'], before: asked['before'], limit };
  return context.json(await filesOf(daemon.ledger, daemon, { selection, range, isCounted: asked['counts'] === '1' }));
}

/** Returns what a file is settling for, and why its folder is frozen. */
function settlingOf({ folders }: Pick<Daemon, 'folders'>, path: string): object {
  const file = folders.settling().find((one) => `${one.folder}/${one.path}` === path);
  const around = folders.status().filter((folder) => path.startsWith(`${folder.path}/`));
  const inner = around.toSorted((one, other) => other.path.length - one.path.length)[0];
  return { v: 1, why: file?.why ?? null, frozen: inner?.state === 'frozen' ? inner.why : null };
}

async function addFile(daemon: Daemon, path: string): Promise<object> {
  const result = await daemon.folders.add(path);
  if (!result.ok) return { v: 1, ok: false, why: result.why };
  const [facts] = await daemon.ledger.find(path);
  return { v: 1, ok: true, as: result.as, file: facts === undefined ? null : viewOf(daemon, facts) };
}

/** The reason recorded for a test clip. Explains why its video is gone. */
const clipEnded = 'a test clip: its video and its file were deleted on purpose';

/** Records that a command deleted the video and file of its test clip, so that the row needs no attention. */
async function endTestClip({ rows, conductor }: Daemon, id: string) {
  await conductor.apply(id, { type: 'IGNORE', by: 'a test clip' });
  const facts = await rows.claim(id, (row) => row.write({ why: clipEnded }, clipEnded));
  return { v: 1, ok: facts !== null };
}

interface AuditAsked {
  readonly wanted: AuditWanted;
  readonly by: string;
  /** True: returns the cost, and begins nothing. */
  readonly isPlanned: boolean;
}

async function beginAudit({ audit }: Daemon, { wanted, by, isPlanned }: AuditAsked) {
  const cost = await audit.cost(wanted, true);
  return { v: 1, begun: !isPlanned && (await audit.begin(wanted, by)), cost };
}

/** Maximum number of files in `GET /facts`. */
const mostInNeed = 200;

/**
 * `GET /facts`: the raw rows of the newest files that need attention. Upload addresses, which grant access to anybody,
 * are omitted.
 */
async function factsInNeed({ ledger }: Pick<Daemon, 'ledger'>) {
  const rows = await ledger.rows({
    group: 'any',
    where: { states: ['failed', 'held'] },
    limit: mostInNeed,
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
