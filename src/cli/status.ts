import type { FolderStatus } from '../intake/watched-folder.ts';
import { statusOf } from '../daemon/view.ts';
import type { FileView, StatusView } from '../daemon/view.ts';
import { askOrRead } from './ask.ts';
import { fileTable } from './file-table.ts';
import { hasColour, paint } from './output/colour.ts';
import { formatRelative } from './output/format.ts';
import { printJson } from './output/json.ts';
import { visible } from './output/visible.ts';
import { requireLoadable } from './settings.ts';
import { exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/**
 * `dropcast status`: what is happening, and why.
 *
 * @returns the exit code, which alone tells scripts and health checks that the daemon is not running
 */
export async function status(
  shell: Shell,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const config = await requireLoadable(shell, options.config);
  const view = await askOrRead<StatusView>(shell, config, '/status', (ledger) =>
    ledger === null ? Promise.resolve(nothing) : statusOf(ledger, null),
  );
  if (options.json === true) printJson(view, shell.stdout);
  else shell.stdout.write(describe(view, shell));
  return view.daemon.running ? exitCodes.fine : exitCodes.notRunning;
}

const nothing: StatusView = {
  v: 1,
  daemon: { running: false, pid: null, started_at: null },
  config: null,
  counts: {},
  settling: 0,
  waiting: null,
  requests: null,
  folders: [],
  working: [],
  needs_you: [],
  suspects: 0,
};

function describe(view: StatusView, shell: Shell): string {
  const colour = hasColour(shell.stdout, shell.env);
  const lines = [headline(view, colour), countLine(view)];
  if (view.waiting !== null) {
    const next = formatRelative(view.waiting.next_probe_at, Date.now());
    lines.push(
      paint('yellow', `Waiting (${view.waiting.kind}): ${visible(view.waiting.why)}; asked again ${next}`, colour),
    );
  }
  if (view.requests !== null) {
    const { used, limit, blocked_until: blockedUntil } = view.requests;
    const block =
      blockedUntil === null ? '' : `, the service lets us go on ${formatRelative(blockedUntil, Date.now())}`;
    lines.push(`API requests in the last hour: ${used} of ${limit}${block}`);
  }
  // Those that want something of somebody first: there may be many.
  const folders = view.folders.toSorted((a, b) => Number(isFine(a)) - Number(isFine(b)));
  for (const folder of folders) lines.push(folderLine(folder, colour));
  if (view.suspects > 0)
    lines.push(
      `${view.suspects} create ${view.suspects === 1 ? 'request' : 'requests'} had no answer: the service may hold as many empty records`,
    );
  const hint =
    view.needs_you.length === 0 ? '' : '`dropcast show ID` tells more, `dropcast retry ID` tries it again as it is.\n';
  return `${lines.join('\n')}\n${section('Under way', view.working, shell)}${section('Needs you', view.needs_you, shell)}${hint}`;
}

function folderLine({ path, state, why, paths, refused }: FolderStatus, colour: boolean): string {
  const word = isFine({ state }) ? state : paint('yellow', `${state}: ${visible(why ?? '')}`, colour);
  const left = [
    paths.ignored > 0 ? `, ${paths.ignored} left alone` : '',
    paths.refused > 0 ? `, ${paths.refused} refused` : '',
    refused === null ? '' : `: "${visible(refused.path)}": ${refused.why}${paths.refused > 1 ? ', …' : ''}`,
  ];
  return `Folder ${visible(path)}: ${word} (${paths.offered} known${left.join('')})`;
}

function isFine({ state }: Pick<FolderStatus, 'state'>): boolean {
  return state === 'watching';
}

function headline({ daemon, config }: StatusView, colour: boolean): string {
  if (!daemon.running) return paint('yellow', 'dropcast is not running', colour);
  const since = daemon.started_at === null ? '' : `, started ${formatRelative(daemon.started_at, Date.now())}`;
  return `${paint('green', 'dropcast is running', colour)} (pid ${daemon.pid ?? '?'}${since}) with ${config ?? '?'}`;
}

function countLine({ counts, settling }: StatusView): string {
  const parts = [
    ...(settling > 0 ? [`${settling} settling`] : []),
    ...Object.entries(counts).map(([state, n]) => `${n} ${state}`),
  ];
  return parts.length === 0 ? 'No file seen yet' : parts.join(' · ');
}

function section(title: string, files: readonly FileView[], shell: Shell): string {
  return files.length === 0 ? '' : `\n${title}\n${fileTable(files, shell)}`;
}
