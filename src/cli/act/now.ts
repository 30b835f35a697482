import { resolve } from 'node:path';
import type { PublishedFeed, PublishResult } from '../../daemon/commands/publish.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { FileView } from '../../view/files/file-view.ts';
import { commandDaemon } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { counted, textOf } from '../output/format.ts';
import { printJson, printResult } from '../output/json.ts';
import type { Shared } from '../registry.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

type Added =
  | { readonly v: 1; readonly ok: true; readonly as: string; readonly file: FileView | null }
  | { readonly v: 1; readonly ok: false; readonly why: string };

/** `dropcast add PATH…`: adds files from a watched folder now, without waiting for them to settle. */
export async function add(shell: Shell, options: Shared, paths: readonly string[]): Promise<number> {
  const place = await requireDaemonPlace(shell, options.config);
  let exitCode: number = exitCodes.fine;
  for (const path of paths) {
    const result = await commandDaemon<Added>(place, '/add', { path: resolve(shell.cwd, path) });
    const name = escapeControls(path);
    if (!result.ok) exitCode = exitCodes.failed;
    if (options.json === true) printJson({ path, ...result }, shell.stdout);
    else if (!result.ok) shell.stderr.write(`${name}: ${escapeControls(result.why)}\n`);
    else shell.stdout.write(`${name}: ${result.as}, ${result.file?.stage ?? 'added'} (${result.file?.id ?? '?'})\n`);
  }
  return exitCode;
}

/** `dropcast publish FEED…`: publishes feeds now and prints the service's response. */
export async function publish(shell: Shell, options: Shared, feeds: readonly string[]): Promise<number> {
  const place = await requireDaemonPlace(shell, options.config);
  const result = await commandDaemon<PublishResult>(place, '/publish', { feeds });
  printResult(result, { shell, json: options.json }, () => textOf(result.feeds.map(publishedLine)));
  shell.stderr.write(textOf(result.refused.map(({ name, why }) => `${name}: ${why}`)));
  const isDone =
    result.refused.length === 0 && result.feeds.every(({ is }) => is === 'published' || is === 'elsewhere');
  return isDone ? exitCodes.fine : exitCodes.failed;
}

/** Formats the result for one feed. Pure. */
export function publishedLine({ feed, is, files, videos, why }: PublishedFeed): string {
  if (is === 'elsewhere') return `${feed}: ${why ?? ''}`;
  if (is !== 'published') return `${feed}: ${is === 'failed' ? 'not published' : 'not published yet'}: ${why ?? ''}`;
  const waited = files === 0 ? [] : [`${counted(files, 'file')} waited for it`];
  const inIt = videos === null ? [] : [`it has ${counted(videos, 'video')} now`];
  return [`${feed}: published`, ...waited, ...inIt].join('; ');
}
