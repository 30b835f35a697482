import type { IgnoreResult } from '../../daemon/commands/ignore.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { someNames } from '../../view/words/text.ts';
import { userName } from './user-name.ts';
import { commandInSlices, costWords, printRefusals, wantedOf } from './wanted-files.ts';
import type { SelectionOptions } from '../query-given.ts';

export interface IgnoreOptions extends SelectionOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly undo?: boolean;
  readonly plan?: boolean;
}

/** `dropcast ignore NAME…`: marks files that must not be uploaded. `--undo` removes the mark. */
export async function ignore(shell: Shell, names: readonly string[], options: IgnoreOptions): Promise<number> {
  const wanted = wantedOf(shell, names, options);
  if (wanted.names.length === 0 && wanted.selection === undefined)
    throw new CommandError(
      'name a file, or select files by --state, --folder, --host, --cause or --query',
      exitCodes.usage,
    );
  const config = await requireDaemonPlace(shell, options.config);
  const { plan: isPlanned = false, undo: isUndone = false } = options;
  const body = { ...wanted, by: userName(shell), isUndone, isPlanned };
  const result = await commandInSlices<IgnoreResult>(config, '/ignore', body);
  if (options.json === true) printJson(result, shell.stdout);
  else
    shell.stdout.write(
      ignoreLines(result, isUndone)
        .map((line) => `${line}\n`)
        .join(''),
    );
  return options.json === true ? exitOf(result) : printRefusals(shell, result);
}

function exitOf({ refused }: IgnoreResult): number {
  return refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

/** Formats the result as text; `--json` also lists every id. Pure. */
export function ignoreLines(result: IgnoreResult, isUndone: boolean): readonly string[] {
  const { files, examples, records, planned, excludes } = result;
  const lines: string[] = [];
  const which = counted(files, 'file');
  if (planned)
    lines.push(`${which} would ${isUndone ? 'no longer be ignored' : 'be ignored'}, with ${costWords(result)}.`);
  else if (files === 0) lines.push(isUndone ? 'No ignored files match.' : 'Nothing to ignore.');
  else
    lines.push(
      `${which} ${files === 1 ? 'is' : 'are'} ${isUndone ? 'no longer ignored' : 'ignored'}: ${escapeControls(someNames(examples, files))}.`,
    );
  if (records > 0)
    lines.push(`${counted(records, 'record')} without bytes will be deleted on the service in a minute or more.`);
  for (const { folder, key, pattern } of excludes)
    lines.push(
      `To ignore future ones too, add to ${key} (${escapeControls(folder)}) in the configuration:`,
      `    exclude: ["${escapeControls(pattern)}"]`,
    );
  return lines;
}
