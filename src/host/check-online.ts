import type { Config } from '../config/config.ts';
import { createVideoClient, ServiceError } from '@dropcast/client';

/** Something in the configuration that the service does not know. */
export interface OnlineProblem {
  readonly severity: 'error' | 'warning';
  readonly key: string;
  readonly message: string;
}

/**
 * Asks the service whether the key, and every channel and feed that a rule names, exist. Two requests that a person waits for: they do
 * not pass the gate of the daemon.
 */
export async function inspectOnline(config: Config, signal: AbortSignal): Promise<readonly OnlineProblem[]> {
  const { baseUrl, apiKey, sendKeyTo } = config.service;
  await using client = createVideoClient({ baseUrl, apiKey: apiKey.reveal(), sendKeyTo, maxRetries: 0 });
  try {
    const channels = await client.channels.list({ signal });
    const feeds = await client.feeds.list({ signal });
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
