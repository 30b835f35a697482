import type { Config } from '../config/config.ts';
import { ServiceError } from '@dropcast/client';
import { createVideoService } from './video-service.ts';
import type { RequestGate } from './video-service.ts';

/** Something the service says is wrong with the configuration. */
export interface OnlineProblem {
  readonly severity: 'error' | 'warning';
  readonly key: string;
  readonly message: string;
}

/** Two requests, made by a person who waits: the budget of the daemon is not asked. */
const openGate: RequestGate = { take: () => Promise.resolve(), throttled: () => undefined };

/** Asks the service whether the key, and every channel and feed that a rule names, exist. */
export async function inspectOnline(config: Config, signal: AbortSignal): Promise<readonly OnlineProblem[]> {
  await using service = createVideoService({ ...config.service, gate: openGate });
  try {
    const channels = await service.listChannels({ lane: 'finish', signal });
    const feeds = await service.listFeeds({ lane: 'finish', signal });
    return config.folders.flatMap(({ rules }) =>
      rules.flatMap((rule) => [
        ...missing(channels, [rule.channel], 'channel', `${rule.key}.channel`),
        ...missing(feeds, rule.publish, 'feed', `${rule.key}.publish`),
      ]),
    );
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [{ severity: 'error', key: 'service', message: `service: ${error.message}` }];
  }
}

function missing(
  known: readonly { readonly id: string }[],
  ids: readonly string[],
  kind: string,
  key: string,
): readonly OnlineProblem[] {
  const list = known.map(({ id }) => id);
  return ids
    .filter((id) => !list.includes(id))
    .map((id) => ({
      severity: 'error',
      key,
      message: `${key}: the service has no ${kind} "${id}"; it has ${list.length === 0 ? 'none' : list.join(', ')}`,
    }));
}
