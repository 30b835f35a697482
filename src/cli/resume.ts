import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import type { Resumed } from '../watch/ports.ts';
import { commandDaemon } from './control.ts';
import { printJson } from './output/json.ts';
import { requireLoadable } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/**
 * `dropcast resume FOLDER`: a person says that a frozen folder is as it should be. While no daemon runs, the next one to start,
 * `dropcast once` too, takes the folder as it is then.
 */
export async function resume(
  shell: Shell,
  name: string,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const config = await requireLoadable(shell, options.config);
  const folder = resolve(shell.cwd, name);
  const result = await resumeIn(config, folder);
  if (options.json === true) printJson({ v: 1, folder, ...result }, shell.stdout);
  else if (result.ok) shell.stdout.write(`${escapeControls(result.what)}.\n`);
  else shell.stderr.write(`${escapeControls(result.why)}\n`);
  return result.ok ? exitCodes.fine : exitCodes.failed;
}

async function resumeIn(config: Config, folder: string): Promise<Resumed> {
  try {
    return await commandDaemon<Resumed>(config, '/resume', { folder });
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notRunning) throw error;
    return noteInLedger(config, folder);
  }
}

/** Nobody can say whether it is frozen now: the next scan of it believes what it sees. */
async function noteInLedger({ stateDir, folders }: Config, folder: string): Promise<Resumed> {
  if (!folders.some(({ path }) => path === folder)) return { ok: false, why: `${folder} is not a watched folder` };
  const { openExistingLedger } = await import('../ledger/ledger.ts');
  try {
    await using ledger = await openExistingLedger(stateDir);
    const record = (await ledger?.roots.load(folder)) ?? { identity: null };
    await ledger?.roots.save(folder, { ...record, doubt: { is: 'resumed' } });
    return { ok: true, what: `The next start takes ${folder} as it is then` };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    throw new CommandError(error.message, exitCodes.failed, { cause: error });
  }
}
