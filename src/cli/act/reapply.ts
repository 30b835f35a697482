import type { ReapplyChange, ReapplyResult } from '../../daemon/commands/reapply.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { commandInSlices, costWords, printRefusals, wantedOf } from './wanted-files.ts';
import type { SelectionOptions } from '../query-given.ts';

export interface ReapplyOptions extends SelectionOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** Applies the changes. Without this option, only prints them. */
  readonly yes?: boolean;
}

/**
 * `dropcast reapply`: applies the current rules to files routed by older rules. Prints the changes and their cost
 * first.
 */
export async function reapply(shell: Shell, names: readonly string[], options: ReapplyOptions): Promise<number> {
  const wanted = wantedOf(shell, names, options);
  const config = await requireDaemonPlace(shell, options.config);
  const body = { ...wanted, isPlanned: options.yes !== true };
  const result = await commandInSlices<ReapplyResult>(config, '/reapply', body);
  if (options.json === true) {
    printJson(result, shell.stdout);
    return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
  }
  for (const line of linesOf(result)) shell.stdout.write(`${escapeControls(line)}\n`);
  return printRefusals(shell, result);
}

/** Maximum number of changes to print; `--json` lists more. */
const mostShown = 20;

function linesOf(result: ReapplyResult): readonly string[] {
  const { changes, files, planned, patches, publishes, same } = result;
  const lines = changes.slice(0, mostShown).flatMap(changeLines);
  if (files > mostShown) lines.push(`… and ${counted(files - Math.min(mostShown, changes.length), 'more file')}`);
  if (same > 0) lines.push(`${counted(same, 'file')}: already match the rules.`);
  if (files === 0) return [...lines, 'Nothing to change.'];
  const feeds = publishes.length === 0 ? '' : `, then ${publishes.join(', ')} published again`;
  const cost = `new metadata for ${counted(patches, 'video')}${feeds}: ${costWords(result)}`;
  lines.push(
    planned ? `${counted(files, 'file')} would change; ${cost}.` : `${counted(files, 'file')} changed; ${cost}.`,
  );
  if (planned) lines.push('Run it again with --yes to do this.');
  return lines;
}

function changeLines({ path, changes }: ReapplyChange): readonly string[] {
  return [path, ...changes.map(({ what, from, to }) => `    ${what}: ${quoted(from)} → ${quoted(to)}`)];
}

function quoted(text: string): string {
  return text === '' ? 'none' : `"${text}"`;
}
