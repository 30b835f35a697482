import { dayAndSecond } from '../../view/words/text.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DaemonPlace } from '../control.ts';
import type { SettlingView } from '../../view/files/files-view.ts';
import { foundOf } from '../../view/files/show-view.ts';
import type { FoundView, ShowView, Span } from '../../view/files/show-view.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { whyOf } from '../output/file-table.ts';
import { formatBytes, formatDuration, unansweredCreates } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { renderDetails } from '../output/table.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** `dropcast show NAME`: shows everything about one file. */
export async function show(shell: Shell, options: Shared, name: string): Promise<void> {
  const config = await requireDaemonPlace(shell, options.config);
  const { found, settling } = await look(shell, config, name);
  const names = [
    ...found.map(({ file }) => `${file.id} ${escapeControls(file.path)}`),
    ...(found.length === 0 ? settling.map(({ path }) => escapeControls(path)) : []),
  ];
  if (names.length === 0) throw new CommandError(noMatch(name));
  if (names.length > 1)
    throw new CommandError(
      `${escapeControls(name)} matches ${names.length} files; use one of these ${found.length === 0 ? 'paths' : 'ids'}:\n  ${names.join('\n  ')}`,
      exitCodes.usage,
    );
  const [[only], [waiting]] = [found, settling];
  const isNew = waiting !== undefined && (only === undefined || only.file.path === waiting.path);
  const view = { v: 1, ...only, ...(isNew && { settling: waiting }) };
  const text = `${only === undefined ? '' : describe(only, shell)}${isNew ? describeSettling(waiting, shell) : ''}`;
  printResult(view, { shell, json: options.json }, () => text);
}

/**
 * Looks up a name. `ls` may have printed it cut or escaped, so it is tried literally, then below the current directory.
 */
async function look(shell: Shell, config: DaemonPlace, name: string): Promise<FoundView> {
  const view = await askFor(shell, config, nameOf(shell, name));
  const isFound = view.found.length + view.settling.length > 0;
  return isFound || !name.includes('…') ? view : askFor(null, config, resolve(shell.cwd, name));
}

/**
 * Finds the files that match a name; see `LedgerView.find`.
 *
 * @param shell null to stay silent about a daemon that is down
 */
export function askFor(shell: Shell | null, config: DaemonPlace, name: string): Promise<FoundView> {
  const path = `/file?name=${encodeURIComponent(name)}`;
  return queryDaemonOrLedger<FoundView>(shell, config, path, async (ledger) =>
    ledger === null ? { v: 1, found: [], settling: [] } : foundOf(ledger, null, name),
  );
}

/**
 * Makes a path absolute, and also a bare name if such a file exists here. Leaves ids and other file names unchanged.
 */
export function nameOf(shell: Shell, name: string): string {
  const path = resolve(shell.cwd, name);
  return name.includes('/') || existsSync(path) ? path : name;
}

function describe({ file, spans, history, suspects }: ShowView, shell: Shell): string {
  const lines = renderDetails(
    [
      ['file', file.path],
      ['id', file.id],
      ['state', `${file.state}${whyOf(file) === '' ? '' : `: ${whyOf(file)}`}`],
      ['host', file.host],
      ['size', `${formatBytes(file.size)} (${file.size} bytes)`],
      ['rule', file.rule],
      ['priority', file.priority],
      ['ready by', file.ready_by === null ? null : dayAndSecond(file.ready_by)],
      ['first', file.first_since === null ? null : `since ${dayAndSecond(file.first_since)}`],
      ['channel', file.channel],
      ['title', file.title],
      ['description', file.description],
      ['tags', file.tags.join(', ') || null],
      ['feeds', file.publish.map((feed) => feedWords(feed, file)).join(', ') || null],
      ['video', file.video_id],
      ['watch', file.embed_url],
      ['service says', file.remote_status],
      ['source', file.source_url],
      ['sha256', file.sha256],
      ['attempts', file.attempts === 0 ? null : String(file.attempts)],
      ['local file', file.local],
      ['link file', file.link_file],
      ['warning', suspects === 0 ? null : unansweredCreates(suspects)],
    ],
    shell,
  );
  const past = history.map(({ at, state, note, failure }) =>
    `  ${dayAndSecond(at)}  ${state.padEnd(17)}${escapeControls(`${note ?? ''}${codeWords(failure)}`)}`.trimEnd(),
  );
  return `${lines}\nsteps\n${spans.map(spanLine).join('\n')}\n\nhistory\n${past.join('\n')}\n`;
}

function feedWords(feed: string, { published, feed_urls: urls }: ShowView['file']): string {
  const url = feed in urls ? ` ${urls[feed]}` : '';
  return `${feed}${feed in published ? ' (published)' : ''}${url}`;
}

/** Formats one step as a line. */
function spanLine({ step, started_at: startedAt, ended_at: endedAt, duration_ms: durationMs }: Span): string {
  const duration = `${formatDuration(durationMs)}${endedAt === null ? ' so far' : ''}`;
  return `  ${dayAndSecond(startedAt)}  ${step.padEnd(24)}${duration}`;
}

/** The code of a failure in the history. */
function codeWords(failure: ShowView['history'][number]['failure']): string {
  if (failure === null) return '';
  return ` [${failure.status === null ? '' : `HTTP ${failure.status}, `}${failure.code}]`;
}

function describeSettling({ path, size, why }: SettlingView, shell: Shell): string {
  return renderDetails(
    [
      ['file', path],
      ['state', `settling: ${why}`],
      ['size', `${formatBytes(size)} (${size} bytes)`],
    ],
    shell,
  );
}

/** Error message for a name without a matching file, with what to use instead. Pure. */
export function noMatch(name: string): string {
  return `no file matches ${escapeControls(name)}: use its path, file name, id or video id, as listed by dropcast ls`;
}
