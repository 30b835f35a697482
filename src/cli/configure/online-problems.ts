import { ForbiddenError, ServiceError, UnauthorizedError, createVideoClient } from '@dropcast/client';
import type { Config } from '../../config/config.ts';
import type { Problem } from '../../config/problem.ts';
import { type UnknownNameFinding, unknownNames } from '../../config/unknown-names.ts';
import { withOurKey } from '../../host/failure.ts';
import type { CheckedConfig } from '../read-config.ts';

/** A conflict between the configuration and the service. */
export interface OnlineProblem {
  readonly severity: 'error';
  /** `service.api_key`, `service.base_url`, or the key of a channel or feed in a rule. */
  readonly key: string;
  readonly message: string;
}

/** Asks the service whether the key is valid and every channel and feed in the rules exists. Takes two requests. */
export async function inspectOnline(config: Config, signal: AbortSignal): Promise<readonly OnlineProblem[]> {
  const answer = await askOnline(config, signal);
  if (!answer.ok) return [{ severity: 'error', key: answer.key, message: answer.message }];
  return unknownNames(config, answer).map(({ key, message }) => ({ severity: 'error', key, message }));
}

/** Turns channels and feeds that the service does not have into configuration problems. */
export function nameProblems(
  findings: readonly UnknownNameFinding[],
  { file, locate }: Pick<CheckedConfig, 'file' | 'locate'>,
): readonly Problem[] {
  return findings.map(({ key, message }) => ({ file, ...locate(key), key, message, severity: 'error' }));
}

/** The service's channels and feeds, or the failure and the configuration key that may be wrong. */
type OnlineAnswer =
  | { readonly ok: true; readonly channel: readonly string[]; readonly feed: readonly string[] }
  | { readonly ok: false; readonly key: 'service.api_key' | 'service.base_url'; readonly message: string };

/**
 * Reads the service's channels and feeds. The two requests bypass the daemon's gate because a user is waiting for them.
 *
 * @throws any error that is neither an answer from the service nor a failure to reach it
 */
async function askOnline({ service }: Pick<Config, 'service'>, signal: AbortSignal): Promise<OnlineAnswer> {
  const { baseUrl, apiKey, sendKeyTo, authorities: ca } = service;
  await using client = createVideoClient({ baseUrl, apiKey: apiKey.reveal(), sendKeyTo, ca, maxRetries: 0 });
  try {
    const channels = await client.channels.list({ signal });
    const feeds = await client.feeds.list({ signal });
    return { ok: true, channel: channels.map(({ id }) => id), feed: feeds.map(({ id }) => id) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isKey = error instanceof UnauthorizedError || error instanceof ForbiddenError;
    return { ok: false, key: isKey ? 'service.api_key' : 'service.base_url', message: withOurKey(error.message) };
  }
}
