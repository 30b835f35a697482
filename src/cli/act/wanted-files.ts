import type { DaemonPlace } from '../control.ts';
import type { CommandResult, WantedFiles } from '../../daemon/commands/wanted.ts';
import { commandDaemon } from '../control.ts';
import { counted } from '../output/format.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { queryGiven } from '../query-given.ts';
import type { SelectionOptions } from '../query-given.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { nameOf } from '../look/show.ts';

/**
 * The files that a command names or selects.
 *
 * @throws {CommandError} when the selection is invalid
 */
export function wantedOf(shell: Shell, names: readonly string[], options: SelectionOptions): WantedFiles {
  const { selection } = queryGiven(shell, options);
  const isSelected = Object.values(selection).some((value) => value !== undefined);
  return { names: names.map((name) => nameOf(shell, name)), ...(isSelected && { selection }) };
}

/** Maximum bytes of names per command. A command may have 64 KiB in total. */
const mostNameBytes = 48 * 1024;

/**
 * Sends a command to the daemon, in slices if it names many files.
 *
 * @returns the combined results of all slices
 */
export async function commandInSlices<T extends CommandResult>(
  config: DaemonPlace,
  path: string,
  { names, selection, ...rest }: WantedFiles & object,
): Promise<T> {
  const slices = slicesOf(names);
  const results: T[] = [];
  for (const [n, slice] of slices.entries())
    results.push(
      await commandDaemon<T>(config, path, {
        ...rest,
        names: slice,
        ...(n === 0 && selection !== undefined && { selection }),
      }),
    );
  return results.reduce(together);
}

function slicesOf(names: readonly string[]): readonly (readonly string[])[] {
  const slices: string[][] = [[]];
  let bytes = 0;
  for (const name of names) {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1;
    if (bytes > mostNameBytes) {
      slices.push([]);
      bytes = 0;
    }
    slices.at(-1)?.push(name);
  }
  return slices;
}

/** Combines two results: adds numbers and concatenates lists. */
function together<T extends CommandResult>(one: T, other: T): T {
  const merged = Object.entries(one).map(([key, value]: [string, unknown]) => {
    const more = (other as Readonly<Record<string, unknown>>)[key];
    if (key === 'v') return [key, value];
    if (typeof value === 'number' && typeof more === 'number') return [key, value + more];
    return [
      key,
      Array.isArray(value) && Array.isArray(more) ? [...(value as unknown[]), ...(more as unknown[])] : value,
    ];
  });
  return Object.fromEntries(merged) as T;
}

/**
 * Prints files that a command left unchanged to stdout, and names that it refused to stderr.
 *
 * @returns the exit code
 */
export function printRefusals(shell: Shell, { refused, left }: Pick<CommandResult, 'refused' | 'left'>): number {
  for (const { files, why } of left)
    shell.stdout.write(`Left ${counted(files, 'file')} unchanged: ${escapeControls(why)}\n`);
  for (const { name, why } of refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
  return refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

/** Formats the cost from the hourly budget, such as `at most 3 requests`. */
export function costWords({ requests }: Pick<CommandResult, 'requests'>): string {
  return requests === 0 ? 'no request' : `at most ${counted(requests, 'request')}`;
}
