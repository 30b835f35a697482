import { createVideoClient } from '@dropcast/client';
import type { VideoClient } from '@dropcast/client';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { explain } from './explain-error.ts';
import { findTarget } from './target.ts';
import type { Target, TargetOptions } from './target.ts';

/** What a command of the API works with. Its calls end when `shell.stopping` fires. */
export interface Session {
  readonly shell: Shell;
  readonly client: VideoClient;
}

/**
 * Opens the client, runs the command, closes the client. Ctrl-C breaks off what runs.
 *
 * @returns the exit code of the command
 * @throws {CommandError} with a sentence for everything that the service refuses or that goes wrong on the way to it
 */
export async function inSession(
  shell: Shell,
  options: TargetOptions,
  command: (session: Session) => Promise<number | void>,
): Promise<number> {
  const target = await findTarget(shell, options);
  shell.takeOverSignals();
  await using client = open(target);
  try {
    return (await command({ shell, client })) ?? exitCodes.fine;
  } catch (error) {
    throw explain(error, { shell, target });
  }
}

/** A longer wait that the service asks for is told to the person, who would else look at a silent terminal. */
const MAX_SILENT_WAIT_MS = 10_000;

function open({ baseUrl, apiKey, sendKeyTo, ca }: Target): VideoClient {
  return createVideoClient({
    baseUrl,
    apiKey: apiKey.reveal(),
    sendKeyTo,
    maxRetryAfterMs: MAX_SILENT_WAIT_MS,
    ...(ca !== null && { ca }),
  });
}
