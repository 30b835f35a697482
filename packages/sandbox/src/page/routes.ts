import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ApiError, isDefect, toApiError } from '../http/api-error.ts';
import type { World } from '../world.ts';
import { act, actions } from './actions.ts';
import { askService } from './ask-service.ts';
import { serveAsset } from './assets/assets.ts';
import { gate } from './gate.ts';
import { problemPage, strangerPage, viewPage, type View } from './layout.ts';
import { liveEvents } from './live.ts';
import { showPage } from './show-page.ts';
import { ShownOnce } from './shown-once.ts';
import { analytics } from './views/analytics.ts';
import { channels } from './views/channels.ts';
import { controls } from './views/controls.ts';
import { faults } from './views/faults.ts';
import { feed } from './views/feed.ts';
import { feeds } from './views/feeds.ts';
import { keys } from './views/keys.ts';
import { overview } from './views/overview.ts';
import { requests } from './views/requests.ts';
import { video } from './views/video.ts';
import { videos } from './views/videos.ts';
import { webhooks } from './views/webhooks.ts';

/**
 * The page to look at: `/`, and everything else below `/_page`, so that it takes no path from the service. Rendered here, works
 * without scripts; with them it follows what happens.
 */
export function createPageRoutes(world: World): Hono {
  const page = new Hono();
  const shownOnce = new ShownOnce();
  page.onError((error, context) => problem(error, context, world));
  page.get('/_page/assets/:hash/:name', serveAsset());
  for (const path of ['/', '/_page', '/_page/*']) page.use(path, ...gate(world));
  page.get('/_page', (context) => context.redirect('/', 303));
  page.get('/_page/live', liveEvents(world.events));
  for (const [path, view] of viewsOf(world, shownOnce)) page.get(path, (context) => show(context, view, world));
  addActions(page, world, shownOnce);
  page.all('/_page/*', () => {
    throw new ApiError('not_found', 'There is nothing at this address.');
  });
  return page;
}

type ViewMaker = (context: Context) => View;

function viewsOf(world: World, shownOnce: ShownOnce): [path: string, view: ViewMaker][] {
  return [
    ['/', overview(world)],
    ['/_page/videos', videos(world)],
    ['/_page/videos/:id', video(world)],
    ['/_page/channels', channels(world)],
    ['/_page/feeds', feeds(world)],
    ['/_page/feeds/:id', feed(world)],
    ['/_page/analytics', analytics(world)],
    ['/_page/keys', keys(world, shownOnce)],
    ['/_page/webhooks', webhooks(world, shownOnce)],
    ['/_page/requests', requests(world)],
    ['/_page/faults', faults(world)],
    ['/_page/controls', controls(world)],
  ];
}

function show(context: Context, view: ViewMaker, world: World) {
  world.lifecycle.advance();
  return showPage(context, viewPage(view(context), world));
}

/** Each answers with a redirect, so that going back or reloading does nothing twice. */
function addActions(page: Hono, world: World, shownOnce: ShownOnce): void {
  const ask = askService(world);
  const onError = () => {
    throw new ApiError('payload_too_large', `A form may have at most ${MAX_FORM_BYTES} bytes.`);
  };
  page.post('/_page/*', bodyLimit({ maxSize: MAX_FORM_BYTES, onError }));
  for (const action of actions(world, shownOnce))
    page.post(action.path, async (context) => context.redirect(await act(context, action, ask), 303));
}

const MAX_FORM_BYTES = 64 * 1024;

function problem(error: unknown, context: Context, { onDefect }: Pick<World, 'onDefect'>) {
  const refusal = toApiError(error);
  if (isDefect(error)) onDefect(error);
  if (refusal.code === 'unauthorized') return showPage(context, strangerPage(), 401);
  return showPage(
    context,
    problemPage(TITLES[refusal.status] ?? 'That did not work', refusal.message),
    refusal.status as ContentfulStatusCode,
  );
}

const TITLES: Readonly<Record<number, string>> = { 403: 'Not allowed', 404: 'Not found', 409: 'Not now' };
