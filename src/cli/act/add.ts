import { resolve } from 'node:path';
import type { FileView } from '../../view/files/file-view.ts';
import { commandDaemon } from '../control.ts';
import { printJson } from '../output/json.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

type Added =
  | { readonly v: 1; readonly ok: true; readonly as: string; readonly file: FileView | null }
  | { readonly v: 1; readonly ok: false; readonly why: string };

/** `dropcast add PATH…`: adds files from a watched folder now, without waiting for them to settle. */
export async function add(
  shell: Shell,
  paths: readonly string[],
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const config = await requireDaemonPlace(shell, options.config);
  let exitCode: number = exitCodes.fine;
  for (const path of paths) {
    const result = await commandDaemon<Added>(config, '/add', { path: resolve(shell.cwd, path) });
    if (!result.ok) exitCode = exitCodes.failed;
    if (options.json === true) printJson({ path, ...result }, shell.stdout);
    else if (result.ok)
      shell.stdout.write(
        `${escapeControls(path)}: ${result.as}, ${result.file?.stage ?? 'added'} (${result.file?.id ?? '?'})\n`,
      );
    else shell.stderr.write(`${escapeControls(path)}: ${escapeControls(result.why)}\n`);
  }
  return exitCode;
}
