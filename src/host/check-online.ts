import { createVideoClient, ForbiddenError, ServiceError, UnauthorizedError } from '@dropcast/client';
import type { Config } from '../config/config.ts';

/** What the service has, or why it does not say, with the key of the configuration that may be wrong. */
export type OnlineAnswer =
  | { readonly ok: true; readonly channel: readonly string[]; readonly feed: readonly string[] }
  | { readonly ok: false; readonly key: 'service.api_key' | 'service.base_url'; readonly message: string };

/**
 * Asks the service for its channels and feeds. Two requests that a person waits for: they do not pass the gate of the daemon.
 *
 * @throws what is no answer of the service and no failure to reach it
 */
export async function askOnline({ service }: Pick<Config, 'service'>, signal: AbortSignal): Promise<OnlineAnswer> {
  const { baseUrl, apiKey, sendKeyTo } = service;
  await using client = createVideoClient({ baseUrl, apiKey: apiKey.reveal(), sendKeyTo, maxRetries: 0 });
  try {
    const channels = await client.channels.list({ signal });
    const feeds = await client.feeds.list({ signal });
    return { ok: true, channel: channels.map(({ id }) => id), feed: feeds.map(({ id }) => id) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isKey = error instanceof UnauthorizedError || error instanceof ForbiddenError;
    return { ok: false, key: isKey ? 'service.api_key' : 'service.base_url', message: error.message };
  }
}
