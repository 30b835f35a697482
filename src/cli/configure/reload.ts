import type { Config } from '../../config/config.ts';
import type { Reloaded } from '../../daemon/control/routes.ts';
import { isInstanceRunning } from '../../daemon/state/instance-lock.ts';
import type { PlannedChange, ReloadPlan } from '../../daemon/rules/plan-reload.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { commandDaemon } from '../control.ts';
import { shortPath } from '../output/file-table.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import { requireLoadable } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { needsRestart } from './reload-config.ts';

export interface ReloadOptions extends Shared {
  readonly plan?: boolean;
}

/**
 * `dropcast reload`: makes the running daemon read its configuration again, and waits for the result. `systemctl
 * reload` runs this because a signal could not report whether the new configuration is valid. With `--plan`, only
 * prints what would change.
 *
 * @throws {CommandError} 78 when the daemon refuses the configuration or the file cannot be read at all; 3 when the
 *   daemon is not running
 */
export async function reload(shell: Shell, options: ReloadOptions): Promise<void> {
  const config = await loadableOrRefused(shell, options.config);
  const reloaded = await ask(shell, config, options.plan === true);
  const { ok, problems, config: file, plan } = reloaded;
  if (file !== config.file)
    shell.stderr.write(`The daemon uses ${file}, so it ${plan === undefined ? 'reloaded' : 'looked at'} that file.\n`);
  if (!ok) throw refused(problems);
  if (options.json === true) {
    printJson(reloaded, shell.stdout);
    return;
  }
  for (const line of problems) shell.stderr.write(`${line}\n`);
  shell.stdout.write(plan === undefined ? 'Reloaded.\n' : planText(plan, shell));
}

/** Loads the configuration. One that cannot be loaded names no socket, so the reload is refused. */
async function loadableOrRefused(shell: Shell, option: string | undefined): Promise<Config> {
  try {
    return await requireLoadable(shell, option);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.badConfig) throw refused([error.message]);
    throw error;
  }
}

async function ask(shell: Shell, config: Config, plan: boolean): Promise<Reloaded> {
  try {
    return await commandDaemon<Reloaded>(config, '/reload', { plan });
  } catch (error) {
    const isNotRunning = error instanceof CommandError && error.exitCode === exitCodes.notRunning;
    if (!isNotRunning || !(await isRunning(shell, config))) throw error;
    // The daemon is running but listens elsewhere, so the file now names a different socket.
    throw refused([`the daemon does not listen at ${config.status.socket}`, needsRestart]);
  }
}

/**
 * Whether the daemon is running. systemd reloads only a running service, and passes its process in `$MAINPID`
 * (systemd.exec(5)).
 */
async function isRunning({ env }: Shell, { stateDir }: Config): Promise<boolean> {
  return Boolean(env['MAINPID']) || (await isInstanceRunning(stateDir));
}

function refused(problems: readonly string[]): CommandError {
  return new CommandError([...problems, 'The old configuration stays active.'].join('\n'), exitCodes.badConfig);
}

/** Formats the changes that a reload would make. */
export function planText({ folders, waiting, sent }: ReloadPlan, shell: Shell): string {
  const lines = folders.map(({ path, becomes }) => `${escapeControls(path)} ${folderWords[becomes]}.`);
  const head = [
    `A reload changes ${counted(waiting.files, 'file')} that have not been sent yet.`,
    ...(waiting.files > 0 ? [table(waiting.changes, shell)] : []),
    sent.files === 0
      ? 'The new rules do not change the metadata of files that have a video.'
      : `${counted(sent.files, 'file')} with a video would get different metadata under the new rules; a reload does not change them. ` +
        `Applying the rules to them costs ${counted(sent.requests, 'request')}.`,
    ...(sent.files > 0 ? [table(sent.changes, shell)] : []),
    ...(sent.left > 0 ? [`${counted(sent.left, 'older file')} not checked.`] : []),
    'Nothing was changed.',
  ];
  return `${[...lines, ...head].join('\n')}\n`;
}

const folderWords: Readonly<Record<ReloadPlan['folders'][number]['becomes'], string>> = {
  watched: 'would be watched',
  left: 'would no longer be watched; its files stay where they are',
  'watched anew': 'would be scanned again, because its settings change',
};

function table(changes: readonly PlannedChange[], shell: Shell): string {
  return tableOf(
    changes,
    [
      ['STATE', ({ state }) => state],
      ['FILE', ({ path }) => shortPath(path, shell), { cut: 'middle' }],
      ['NOW', ({ before, what }) => said(before, what), { cut: 'end' }],
      ['THEN', ({ after, what }) => said(after, what), { cut: 'end' }],
    ],
    shell,
  ).trimEnd();
}

/** Formats the fields that differ, or why the file is held. */
function said({ rule, channel, title, held }: PlannedChange['before'], what: readonly string[]): string {
  if (held !== null || rule === null) return `held: ${held ?? ''}`;
  const shown = { channel: `channel ${channel ?? ''}`, title: `title ${title ?? ''}` };
  const keys = what.includes('held') ? ['channel'] : what;
  const words = keys.map((key) => (key === 'channel' || key === 'title' ? shown[key] : key));
  return `${rule}: ${words.join(', ')}`;
}
