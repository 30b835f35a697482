import { drainWords } from '../../daemon/commands/hosts.ts';
import type { HostView } from '../../view/hosts/host-view.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { AskHosts } from './ask.ts';

/** What waiting for a host needs. */
export interface Waiting {
  readonly ask: Pick<AskHosts, 'list'>;
  /** Told once, and whenever it has changed. */
  say(words: string): void;
  /** Resolves a little later. @returns false when somebody does not want to wait any longer */
  rest(): Promise<boolean>;
}

/**
 * Waits until nothing runs on a host that is drained.
 *
 * @returns the host as it is then; one that is silent or stopped does not get any further
 * @throws {CommandError} nobody waits any longer, it was forgotten, or somebody lets it take up files again
 */
export async function untilDrained(name: string, { ask, say, rest }: Waiting): Promise<HostView> {
  let said = '';
  for (;;) {
    const host = (await ask.list()).hosts.find((each) => each.name === name);
    if (host === undefined) throw new CommandError(`${name} was forgotten meanwhile`, exitCodes.failed);
    if (host.draining === null)
      throw new CommandError(`${name} is not drained any more: somebody has taken that back`, exitCodes.failed);
    const words = drainWords(host);
    if (words !== said) say(words);
    said = words;
    if (host.state !== 'draining') return host;
    if (!(await rest())) throw new CommandError(`${name} goes on draining; nobody waits for it now`, exitCodes.failed);
  }
}
