import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { foundOf } from '../daemon/view.ts';
import type { ShowView } from '../daemon/view.ts';
import { queryDaemonOrLedger } from './control.ts';
import { whyOf } from './file-table.ts';
import { formatBytes, unansweredCreates } from './output/format.ts';
import { printJson } from './output/json.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { requireLoadable } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** `dropcast show NAME`: everything about one file. */
export async function show(
  shell: Shell,
  name: string,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<void> {
  const config = await requireLoadable(shell, options.config);
  const wanted = nameOf(shell, name);
  const found = await askFor(shell, config, wanted);
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      `no file matches ${escapeControls(name)}: use its path, file name, id or video id, as listed by dropcast ls`,
      exitCodes.failed,
    );
  if (found.length > 1) {
    const names = found.map(({ file }) => `${file.id} ${escapeControls(file.path)}`).join('\n  ');
    throw new CommandError(
      `${escapeControls(name)} matches ${found.length} files; use one of these ids:\n  ${names}`,
      exitCodes.usage,
    );
  }
  if (options.json === true) printJson(only, shell.stdout);
  else shell.stdout.write(describe(only));
}

/** The files that match a name: see `LedgerView.find`. */
export async function askFor(shell: Shell, config: Config, name: string): Promise<readonly ShowView[]> {
  const path = `/file?name=${encodeURIComponent(name)}`;
  const { found } = await queryDaemonOrLedger<{ readonly found: readonly ShowView[] }>(
    shell,
    config,
    path,
    async (ledger) => ({
      found: ledger === null ? [] : await foundOf(ledger, null, name),
    }),
  );
  return found;
}

/** Makes a path absolute, and a bare name when such a file is here; leaves ids and other file names unchanged. */
export function nameOf(shell: Shell, name: string): string {
  const path = resolve(shell.cwd, name);
  return name.includes('/') || existsSync(path) ? path : name;
}

function describe({ file, history, suspects }: ShowView): string {
  const rows: readonly (readonly [string, string | null])[] = [
    ['file', file.path],
    ['id', file.id],
    ['state', `${file.state}${whyOf(file) === '' ? '' : `: ${whyOf(file)}`}`],
    ['size', `${formatBytes(file.size)} (${file.size} bytes)`],
    ['rule', file.rule],
    ['priority', file.priority],
    ['channel', file.channel],
    ['title', file.title],
    ['description', file.description],
    ['tags', file.tags.join(', ') || null],
    ['feeds', file.publish.map((feed) => `${feed}${feed in file.published ? ' (published)' : ''}`).join(', ') || null],
    ['video', file.video_id],
    ['service says', file.remote_status],
    ['source', file.source_url],
    ['sha256', file.sha256],
    ['attempts', file.attempts === 0 ? null : String(file.attempts)],
    ['local file', file.local],
    ['warning', suspects === 0 ? null : unansweredCreates(suspects)],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === null ? [] : [`${label.padEnd(13)}${escapeControls(value)}`],
  );
  const past = history.map(({ at, state, note }) =>
    `  ${new Date(at).toISOString()}  ${state.padEnd(17)}${escapeControls(note ?? '')}`.trimEnd(),
  );
  return `${lines.join('\n')}\n\nhistory\n${past.join('\n')}\n`;
}
