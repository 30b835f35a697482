import type { Config } from '../../config/config.ts';
import { unknownNames } from '../../config/unknown-names.ts';
import { askOnline } from '../../host/check-online.ts';

/** What the service says against a configuration. */
export interface OnlineProblem {
  readonly severity: 'error';
  /** `service.api_key`, `service.base_url`, or the key of a channel or feed. */
  readonly key: string;
  readonly message: string;
}

/** Asks the service whether the key, and every channel and feed that a rule names, exist: two requests. */
export async function inspectOnline(config: Config, signal: AbortSignal): Promise<readonly OnlineProblem[]> {
  const answer = await askOnline(config, signal);
  if (!answer.ok) return [{ severity: 'error', key: answer.key, message: answer.message }];
  return unknownNames(config, answer).map(({ key, message }) => ({ severity: 'error', key, message }));
}
