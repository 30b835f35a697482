import { escapeControls } from '../../log/unsafe-characters.ts';
import { printJson } from '../../cli/output/json.ts';
import type { Shared } from '../../cli/registry.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import { askHosts } from './ask.ts';

/** `dropcast hosts forget NAME`: one that is gone for good. @returns exit code 1 when it runs, or there is none of this name */
export async function forgetHost(shell: Shell, name: string, options: Shared): Promise<number> {
  const changed = await (await askHosts(shell, options)).forget(name);
  if (!changed.ok) throw new CommandError(escapeControls(changed.what), exitCodes.failed);
  if (options.json === true) printJson(changed, shell.stdout);
  else shell.stdout.write(`${escapeControls(changed.what)}.\n`);
  return exitCodes.fine;
}
