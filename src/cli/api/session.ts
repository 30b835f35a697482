import { createVideoClient } from '@dropcast/client';
import type { VideoClient, VideoClientOptions } from '@dropcast/client';
import type { Shell } from '../shell.ts';
import { explain } from './failures.ts';
import { findTarget } from './target.ts';
import type { Target, TargetOptions } from './target.ts';

/** The context of an API command. Its requests are aborted when `shell.stopping` fires. */
export interface Session extends Pick<Target, 'sendOptions'> {
  readonly shell: Shell;
  readonly client: VideoClient;
}

/**
 * Opens the client, runs the command and closes the client. Ctrl-C aborts the request in progress.
 *
 * @throws {CommandError} for every refusal by the service and every failure to reach it
 */
export async function inSession(
  shell: Shell,
  options: TargetOptions,
  command: (session: Session) => Promise<void>,
): Promise<void> {
  const target = await findTarget(shell, options);
  shell.takeOverSignals();
  await using client = openClient(target);
  try {
    await command({ shell, client, sendOptions: () => target.sendOptions() });
  } catch (error) {
    throw explain(error, { shell, target });
  }
}

/**
 * Longest silent wait. If the service asks for more, the command fails with a message instead of leaving the terminal
 * silent.
 */
const MAX_SILENT_WAIT_MS = 10_000;

/** @param options of the client, in addition to those of every command */
export function openClient(
  { baseUrl, apiKey, sendKeyTo, ca }: Target,
  options: Omit<VideoClientOptions, 'baseUrl' | 'apiKey'> = {},
): VideoClient {
  const target = { baseUrl, apiKey: apiKey.reveal(), sendKeyTo, ca };
  return createVideoClient({ ...target, maxRetryAfterMs: MAX_SILENT_WAIT_MS, ...options });
}
