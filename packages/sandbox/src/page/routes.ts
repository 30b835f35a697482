import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { liveAnswer, type Html, type LiveSource } from '@dropcast/pages';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ApiError, isDefect, toApiError } from '../http/api-error.ts';
import type { Services } from '../services.ts';
import { actions, createAct, importFile, ShownOnce } from './actions.ts';
import { problemPage, strangerPage, viewPage, type View, assets } from './layout.ts';
import { analytics } from './views/analytics.ts';
import { channels } from './views/channels.ts';
import { controls } from './views/controls.ts';
import { faults } from './views/faults.ts';
import { feed } from './views/feed.ts';
import { feeds } from './views/feeds.ts';
import { keys } from './views/keys.ts';
import { overview } from './views/overview.ts';
import { request } from './views/request.ts';
import { requests } from './views/requests.ts';
import { verify } from './views/verify.ts';
import { video } from './views/video.ts';
import { videos } from './views/videos.ts';
import { webhooks } from './views/webhooks.ts';
import { enterByLink, isAdmin } from '../admin/require-admin.ts';

/**
 * Serves the web page: `/`, and everything else under `/_page`, so that it uses none of the service's paths. It is
 * rendered on the server and works without scripts; with scripts it updates live.
 */
export function createPageRoutes(services: Services): Hono {
  const page = new Hono();
  const shownOnce = new ShownOnce();
  page.onError((error, context) => problem(error, context, services));
  page.get('/_page/assets/*', ({ req }) => assets.find(req.path) ?? notThere());
  for (const path of ['/', '/_page', '/_page/*']) page.use(path, ...requireSignIn(services));
  page.get('/_page', (context) => context.redirect('/', 303));
  page.get('/_page/live', ({ req }) => liveAnswer(req.raw, liveSource(services)));
  for (const [path, view] of viewsOf(services, shownOnce)) page.get(path, (context) => show(context, view, services));
  addActions(page, services, shownOnce);
  page.all('/_page/*', notThere);
  return page;
}

function notThere(): never {
  throw new ApiError('not_found', 'There is nothing at this address.');
}

function liveSource({ events }: Pick<Services, 'events'>): LiveSource {
  return { listen: (listener) => events.listen(({ type }) => listener(type)) };
}

type ViewMaker = (context: Context) => View | Promise<View>;

function viewsOf(services: Services, shownOnce: ShownOnce): [path: string, view: ViewMaker][] {
  return [
    ['/', overview(services)],
    ['/_page/videos', videos(services)],
    ['/_page/videos/:id', video(services)],
    ['/_page/channels', channels(services)],
    ['/_page/feeds', feeds(services)],
    ['/_page/feeds/:id', feed(services)],
    ['/_page/analytics', analytics(services)],
    ['/_page/keys', keys(services, shownOnce)],
    ['/_page/webhooks', webhooks(services, shownOnce)],
    ['/_page/requests', requests(services)],
    ['/_page/requests/:number', request(services.journal)],
    ['/_page/verify', verify(services.journal)],
    ['/_page/faults', faults(services)],
    ['/_page/controls', controls(services)],
  ];
}

async function show(context: Context, view: ViewMaker, services: Services): Promise<Response> {
  services.lifecycle.advance();
  return await showPage(context, viewPage(await view(context), services));
}

/** Adds the actions. Each answers with a redirect, so that going back or reloading repeats nothing. */
function addActions(page: Hono, services: Services, shownOnce: ShownOnce): void {
  const act = createAct(services);
  page.post('/_page/import', limitedTo(MAX_IMPORT_BYTES), async (context) =>
    context.redirect(await act(context, importFile), 303),
  );
  page.post('/_page/*', limitedTo(MAX_FORM_BYTES));
  for (const action of actions(services, shownOnce))
    page.post(action.path, async (context) => context.redirect(await act(context, action), 303));
}

/** The admin side's limit, plus room for the rest of the form. */
const MAX_IMPORT_BYTES = 257 * 1024 * 1024;

/** Several times the admin side's limit of 1 MiB, because form encoding and indentation enlarge the JSON. */
const MAX_FORM_BYTES = 8 * 1024 * 1024;

function limitedTo(maxSize: number): MiddlewareHandler {
  const onError = () => {
    throw new ApiError('payload_too_large', `A form may have at most ${maxSize / 1024 ** 2} MiB.`);
  };
  return bodyLimit({ maxSize, onError });
}

function problem(error: unknown, context: Context, { onDefect }: Pick<Services, 'onDefect'>) {
  const refusal = toApiError(error);
  if (isDefect(error)) onDefect(error);
  if (refusal.code === 'unauthorized') return showPage(context, strangerPage(), 401);
  const title = TITLES[refusal.status] ?? 'Something went wrong';
  const isAboutForm = title === NOT_ACCEPTED && context.req.method === 'POST';
  return showPage(
    context,
    problemPage({ title, message: refusal.message, isAboutForm }),
    refusal.status as ContentfulStatusCode,
  );
}

const NOT_ACCEPTED = 'Not accepted';

const TITLES: Readonly<Record<number, string>> = {
  400: NOT_ACCEPTED,
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  413: NOT_ACCEPTED,
  422: NOT_ACCEPTED,
};

/** Answers with a page that may load nothing from other origins and appear in no frame. */
function showPage(context: Context, page: Html, status: ContentfulStatusCode = 200): Response | Promise<Response> {
  return context.html(page, status, HEADERS);
}

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "img-src 'self'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

type Guarded = Pick<Services, 'adminToken' | 'links'>;

/**
 * Requires a signed-in browser. The printed address signs a browser in; all others see only how to sign in. @throws
 * ApiError 401, 403
 */
function requireSignIn(services: Guarded): MiddlewareHandler[] {
  return [
    enterByLink(services),
    async (context, next) => {
      if (!isAdmin(context, services)) return showPage(context, strangerPage(), 401);
      return next();
    },
  ];
}
