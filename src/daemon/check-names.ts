import type { Config } from '../config/config.ts';
import { namesUsed, unknownNames } from '../config/unknown-names.ts';
import type { UnknownNameFinding } from '../config/unknown-names.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../log/logger.ts';
import type { Conductor } from '../pipeline/conductor.ts';

/**
 * Thrown at startup when rules name a channel or feed that the service does not have, and that no file in the ledger
 * was sent to.
 */
export class UnknownNamesError extends Error {
  override readonly name = 'UnknownNamesError';
  readonly findings: readonly UnknownNameFinding[];

  constructor(findings: readonly UnknownNameFinding[]) {
    super(findings.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.findings = findings;
  }
}

/** Longest wait for the lists, in milliseconds. A silent service must not delay the start; its lists are read later. */
const longestMs = 3_000;

/**
 * Asks the service for its channels and feeds before anything is sent. A missing name that files were sent to before
 * must have been deleted there. Only its files wait, so that a reboot does not stop all other work.
 *
 * @throws {UnknownNamesError} a missing name was never sent to, so it is a mistake
 */
export async function checkNames(
  config: Config,
  world: {
    readonly conductor: Pick<Conductor, 'names'>;
    readonly ledger: Pick<Ledger, 'count'>;
    readonly logger: Logger;
  },
): Promise<void> {
  const { conductor, ledger, logger } = world;
  const answer = await conductor.names.ask(namesUsed(config), AbortSignal.timeout(longestMs));
  if (!answer.ok) {
    const why = answer.failure.message;
    return logger.info('Channels and feeds are not checked yet: the service did not list them', { why });
  }
  const mistakes: UnknownNameFinding[] = [];
  for (const finding of unknownNames(config, answer.value))
    if ((await ledger.count({ sentTo: finding }, 1)) === 0) mistakes.push(finding);
  if (mistakes.length > 0) throw new UnknownNamesError(mistakes);
}
