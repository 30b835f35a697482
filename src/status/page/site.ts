import { liveAnswer } from '@dropcast/pages';
import { Hono, type Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ControlPorts } from '../../daemon/control/routes.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { unavailableWords } from '../../view/words/unavailable-words.ts';
import { statusView } from '../../view/picture/documents.ts';
import { limitedBody } from '../../http/limited-body.ts';
import { showsToken } from '../tokens.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import type { PageAccess, Right } from './access.ts';
import { actions } from './actions.ts';
import { assets } from './assets.ts';
import { problemPage, viewPage } from './layout.ts';
import { healthStatus, isFromElsewhere, isFromThisPage, isOwnHost, takeWebhook, type EarlySource } from './public.ts';
import { createMemory } from './memory.ts';
import { createLive, SharedViews } from './live.ts';
import { enter, leave, rightOf, turnAway } from './sign-in.ts';
import { chooseTheme, themeOf } from './theme.ts';
import { PageError, type Action, type Asked, type PageWorld, type ViewMaker } from './world.ts';
import { audit } from './views/audit.ts';
import { overview } from './views/overview.ts';
import { files, settlingFile } from './views/files.ts';
import { many } from './views/many.ts';
import { file } from './views/file.ts';
import { folders } from './views/folders.ts';
import { events } from './views/events.ts';
import { days } from './views/days.ts';
import { configuration } from './views/configuration.ts';
import { tryRulesForm } from './views/try-rules.ts';

/** The sources of the page's content, and the receiver of its webhooks. */
export interface PageSource extends EarlySource {
  readonly daemon: Daemon;
  readonly access: PageAccess;
  /** Called with the error when an address fails: a bug. */
  readonly broke?: (error: unknown) => void;
  readonly testNotifications: ControlPorts['testNotifications'];
  /** Absent: `/metrics` is not served. */
  readonly metrics?: Metrics & { readonly token: string };
}

interface Signed {
  readonly Variables: { readonly right: Right };
}

/** Maximum number of simultaneous streams; a browser has one for each open page. */
const MOST_READERS = 100;

/**
 * Creates all addresses of the page. Rejects requests under another host name, and requests by other web pages, which
 * could read this page through another local user's browser. Readers with the right to look see the views. A change
 * requires a form of this page, from a session with that right.
 *
 * @param host the host that the server listens on
 * @param closing aborts when the server closes
 */
export function createSite(
  host: string,
  source: PageSource,
  closing: AbortSignal,
  { views, actions } = addresses,
): Hono<Signed> {
  const { daemon, access, metrics, testNotifications } = source;
  const shared = new SharedViews();
  const memory = createMemory(daemon);
  const worldFor = (context: Context<Signed>): PageWorld => {
    let picture: Promise<LivePicture> | null = null;
    return {
      daemon,
      picture: () => (picture ??= daemon.picture()),
      memory,
      testNotifications,
      now: Date.now(),
      mayChange: context.get('right') === 'change',
      theme: themeOf(context),
    };
  };
  const live = createLive(daemon, closing, () => shared.somethingHappened());
  const site = new Hono<Signed>();
  site.onError((error, context) => {
    if (error instanceof PageError) return refuse(context, error.status, error.message);
    const words = unavailableWords(error);
    if (words !== null) return refuse(context, 503, words);
    source.broke?.(error);
    return refuse(
      context,
      500,
      'This is a bug in dropcast: please report it with the lines of its log. Uploads are not affected.',
    );
  });
  // Ahead of the host check: webhooks may arrive through a proxy on another machine, and their signature authenticates
  // the sender.
  site.post('/webhooks', (context) => takeWebhook(context, source.receive));
  site.use(protect(() => [host, ...daemon.config().status.hosts]));
  // Open to everybody, so it reveals nothing else and is cheap.
  site.get('/healthz', (context) => {
    const health = source.health();
    return context.text(`${health}\n`, healthStatus(health));
  });
  if (metrics !== undefined)
    site.get('/metrics', (context, next) => {
      // Readers with access to the page may also fetch the metrics: see below.
      const authorization = context.req.header('authorization') ?? null;
      return showsToken(authorization, metrics.token) ? tellMetrics(context, metrics) : next();
    });
  site.get('/assets/*', ({ req, notFound }) => assets.find(req.path) ?? notFound());
  site.get('/open', (context) => enter(context, access));
  site.post('/sign-out', fromThisPage, (context) => leave(context));
  site.post('/theme', signedIn(access), fromThisPage, (context) => chooseTheme(context));
  for (const [path, action] of actions)
    site.post(path, signedIn(access), fromThisPage, mayChange, async (context) => {
      const next = await act(context, worldFor(context), action);
      live.tell('command');
      return context.redirect(next, 303);
    });
  site.use(onlyReading, signedIn(access));
  if (metrics !== undefined) site.get('/metrics', (context) => tellMetrics(context, metrics));
  site.get('/status.json', async (context) => context.json(statusView(await daemon.picture({ isFresh: true }))));
  site.get('/live', (context) =>
    live.readers() < MOST_READERS
      ? liveAnswer(context.req.raw, live)
      : context.text('Too many pages are open.\n', 503, { 'retry-after': '10' }),
  );
  for (const [path, view] of views)
    site.get(path, async (context) => {
      const [world, asked] = [worldFor(context), askedOf(context)];
      // The rendering is shared, so it must not depend on this request, whose reader may be gone.
      const make = async () => String(await viewPage(await view(world, asked), world));
      return context.html(await shared.get([context.get('right'), world.theme, context.req.url].join(' '), make));
    });
  site.notFound((context) => refuse(context, 404, 'There is nothing at this address.'));
  return site;
}

const addresses: {
  /** Every page address that shows a view. */
  readonly views: readonly (readonly [path: string, view: ViewMaker])[];
  readonly actions: readonly (readonly [path: string, action: Action])[];
} = {
  views: [
    ['/', overview],
    ['/files', files],
    ['/files/many', many],
    ['/files/settling', settlingFile],
    ['/files/:id', file],
    ['/folders', folders],
    ['/audit', audit],
    ['/events', events],
    ['/days', days],
    ['/configuration', configuration],
    ['/configuration/try', tryRulesForm],
  ],
  actions,
};

function signedIn(access: PageAccess) {
  return createMiddleware<Signed>(async (context, next) => {
    const right = rightOf(context, access);
    if (right === null) return turnAway(context);
    context.set('right', right);
    return next();
  });
}

const fromThisPage = createMiddleware<Signed>(async (context, next) =>
  isFromThisPage(context.req) ? next() : refuse(context, 403, 'Only this page may send changes.'),
);

const mayChange = createMiddleware<Signed>(async (context, next) =>
  context.get('right') === 'change' ? next() : refuse(context, 403, MAY_ONLY_LOOK),
);

const MAY_ONLY_LOOK = 'You have read-only access. For a link that lets you make changes, run: sudo dropcast open.';

const onlyReading = createMiddleware<Signed>(async (context, next) => {
  if (['GET', 'HEAD'].includes(context.req.method)) return next();
  return context.text('Nothing can be changed here.\n', 405, { allow: 'GET, HEAD' });
});

async function tellMetrics(context: Context, { contentType, text }: Metrics): Promise<Response> {
  return context.body(await text(), 200, { 'content-type': contentType });
}

async function act(context: Context, world: PageWorld, action: Action): Promise<string> {
  const body = await limitedBody(context.req.raw);
  if (body === null) throw new PageError(400, 'The form is larger than 64 KiB: send less at once.');
  return action(world, { ...askedOf(context), form: new URLSearchParams(new TextDecoder().decode(body)) });
}

function askedOf({ req }: Context): Asked {
  const parts = req.param();
  return { query: new URL(req.url).searchParams, part: (name) => parts[name] ?? '' };
}

function refuse(context: Context, status: keyof typeof TITLES, message: string): Response | Promise<Response> {
  return context.html(problemPage(TITLES[status], message), status);
}

const TITLES = {
  400: 'Not understood',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  503: 'Not possible now',
  500: 'Something went wrong',
} as const;

/**
 * Adds headers to all responses, and rejects other host names and other web pages. @param names this page's host names,
 * without port
 */
function protect(names: () => readonly string[]) {
  return createMiddleware(async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    if (!isOwnHost(context.req.header('host') ?? '', names()))
      return context.text('Use the address of this page itself, or add the name to status.hosts.\n', 421);
    if (isFromElsewhere(context.req, names())) return context.text('Other web pages may not read this one.\n', 403);
    return next();
  });
}

/** Content loads only from the page itself, which appears in no frame. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "img-src 'self'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Sent to the page's own origin only. Without a referrer, forms would have no origin.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
