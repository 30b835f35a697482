import type { PublishedFeed, PublishResult } from '../../daemon/commands/publish.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { commandDaemon } from '../control.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** `dropcast publish FEED…`: publishes feeds now and prints the service's answer. */
export async function publish(
  shell: Shell,
  feeds: readonly string[],
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const config = await requireDaemonPlace(shell, options.config);
  const result = await commandDaemon<PublishResult>(config, '/publish', { feeds });
  if (options.json === true) printJson(result, shell.stdout);
  else for (const feed of result.feeds) shell.stdout.write(`${escapeControls(publishedLine(feed))}\n`);
  for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(`${name}: ${why}`)}\n`);
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
