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
 * The files that somebody named or selected.
 *
 * @throws {CommandError} when nothing was, or what was cannot be meant
 */
export function wantedOf(shell: Shell, names: readonly string[], options: SelectionOptions): WantedFiles {
  const { selection } = queryGiven(shell, options);
  const isSelected = Object.values(selection).some((value) => value !== undefined);
  return { names: names.map((name) => nameOf(shell, name)), ...(isSelected && { selection }) };
}

/** A command takes 64 KiB at once. */
const mostNameBytes = 48 * 1024;

/** Gives a command to the daemon, in slices when many files are named. @returns the results of all slices as one */
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

/** Numbers are added, lists put after each other. */
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

/** Files that a command left alone, on stdout; names that it refused, on stderr. @returns the exit code */
export function printRefusals(shell: Shell, { refused, left }: Pick<CommandResult, 'refused' | 'left'>): number {
  for (const { files, why } of left) shell.stdout.write(`Left ${counted(files, 'file')}: ${escapeControls(why)}\n`);
  for (const { name, why } of refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
  return refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

/** `at most 3 requests`, of the hourly budget. */
export function costWords({ requests }: Pick<CommandResult, 'requests'>): string {
  return requests === 0 ? 'no request' : `at most ${counted(requests, 'request')}`;
}
