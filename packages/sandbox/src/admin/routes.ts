import { Hono, type MiddlewareHandler } from 'hono';
import { faultEndpoints } from '../faults/routes.ts';
import { ApiError } from '../http/api-error.ts';
import { isAt } from '../http/operations.ts';
import { webhookEndpoints } from '../webhooks/routes.ts';
import { verifyEndpoint } from '../inspector/verify.ts';
import type { Services } from '../services.ts';
import { makerEndpoints } from './makers.ts';
import { requestEndpoints } from './requests.ts';
import { READING, requireAdmin } from './require-admin.ts';
import { seedEndpoint } from './seed.ts';
import { snapshotEndpoints } from './snapshot.ts';
import { reset } from '../account.ts';
import { packageVersion } from '../package-files.ts';
import { isoTime } from '../http/wire.ts';
import type { VideoStatus } from '../store/videos.ts';
import { clockEndpoints, profileEndpoints, failVideoEndpoint, clockView, rateLimitEndpoints } from './controls.ts';
import { KeyDesk, keyEndpoints } from './keys.ts';
import type { Handler, Endpoint } from '../http/input.ts';

/**
 * Routes of the admin API below /_sandbox, which has its own token and no rate limit. Not part of the specification.
 */
export function createAdminRoutes(services: Services): Hono {
  const admin = new Hono();
  const endpoints = endpointsOf(services);
  const index: Handler = (context) => context.json({ data: { endpoints: endpoints.map(indexLine) } });
  admin.use('/_sandbox/*', requireAdmin(services), announceChanges(services));
  admin.on('GET', ['/_sandbox', '/_sandbox/'], index);
  for (const { method, path, handler } of endpoints) admin.on(method, path, handler);
  admin.all('/_sandbox/*', (context) => answerElsewhere(context.req.method, context.req.path, endpoints));
  return admin;
}

/**
 * Emits an event after every admin change, because many, such as snapshots, the limit or the journal, have none of
 * their own.
 */
function announceChanges({ events }: Pick<Services, 'events'>): MiddlewareHandler {
  return async (context, next) => {
    await next();
    if (!READING.has(context.req.method) && context.res.ok) events.emit('admin.changed', '');
  };
}

function endpointsOf(services: Services): Endpoint[] {
  const { records, clock, events, requestWindow } = services;
  return [
    stateEndpoint(services),
    resetEndpoint(services),
    seedEndpoint(services),
    ...snapshotEndpoints(services),
    ...keyEndpoints(new KeyDesk({ keys: records.keys, clock, events })),
    ...requestEndpoints(services.journal),
    verifyEndpoint(services.journal),
    ...clockEndpoints(clock),
    ...rateLimitEndpoints(requestWindow),
    ...profileEndpoints(services.switchboard),
    ...makerEndpoints(services),
    failVideoEndpoint(services),
    ...faultEndpoints(services),
    ...webhookEndpoints(services),
  ];
}

function resetEndpoint(services: Services): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/reset',
    says: 'Restores the state right after the start: records, files, clock, limit, faults and journal.',
    handler: async (context) => {
      await reset(services);
      return context.body(null, 204);
    },
  };
}

function indexLine({ method, path, says }: Endpoint) {
  return { method, path, says };
}

function answerElsewhere(method: string, path: string, endpoints: readonly Endpoint[]): Response {
  const methods = endpoints.filter((endpoint) => isAt(endpoint.path, path)).map((endpoint) => endpoint.method);
  if (/^\/_sandbox\/?$/.test(path)) methods.push('GET');
  if (methods.length === 0)
    throw new ApiError('not_found', 'The admin side has nothing at this path. GET /_sandbox lists what it has.');
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } });
  throw new ApiError('method_not_allowed', `This path allows ${allow}.`, { Allow: allow });
}

type StateParts = Pick<
  Services,
  'records' | 'clock' | 'journal' | 'requestWindow' | 'faults' | 'links' | 'settings' | 'lifecycle' | 'startedAtMs'
>;

/** Endpoint that summarises the sandbox and its contents. */
export function stateEndpoint(parts: StateParts): Endpoint {
  return {
    method: 'GET',
    path: '/_sandbox/state',
    says: 'Returns the version, addresses, clock, limits and counts.',
    handler: async (context) => {
      const { lifecycle, clock, requestWindow, settings, links } = parts;
      lifecycle.advance();
      return context.json({
        data: {
          version: await version,
          started_at: isoTime(parts.startedAtMs),
          seed: settings.seed,
          base_url: `${links.origin}/v1`,
          admin_url: `${links.origin}/_sandbox`,
          upload_origin: links.uploadOrigin,
          clock: clockView(clock),
          limits: { requests_per_hour: requestWindow.limit },
          counts: countsOf(parts),
        },
      });
    },
  };
}

const STATUSES: readonly VideoStatus[] = ['pending', 'processing', 'ready', 'failed'];

function countsOf({ records, journal, faults }: StateParts) {
  const { videos, channels, feeds, keys, webhooks } = records;
  const all = keys.list();
  return {
    videos: {
      total: videos.count({}),
      ...Object.fromEntries(STATUSES.map((status) => [status, videos.count({ status })])),
    },
    channels: channels.list().length,
    feeds: feeds.list().length,
    keys: all.filter(({ revokedAtMs }) => revokedAtMs === null).length,
    revoked_keys: all.filter(({ revokedAtMs }) => revokedAtMs !== null).length,
    webhooks: webhooks.count(),
    faults: faults.list().length,
    requests: journal.entries().length,
  };
}

/** The package version. */
const version: Promise<string> = packageVersion().catch(() => 'unknown');
