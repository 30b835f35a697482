import { packageVersion } from '../package-files.ts';
import { isoTime } from '../http/wire.ts';
import type { VideoStatus } from '../store/videos.ts';
import type { Services } from '../services.ts';
import { clockView } from './clock.ts';
import type { Endpoint } from '../http/handler.ts';

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
