import { resolve } from 'node:path';
import { adoptionOf } from '../../daemon/adoption/adoption.ts';
import type { AdoptableFile, AdoptionView, Confirmed, Verdict } from '../../daemon/adoption/adoption.ts';
import type { DaemonPlace } from '../control.ts';
import { comparisonWords } from '../../view/words/picture-words.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { ResumeResult } from '../../daemon/commands/pause.ts';
import { commandDaemon, commandDaemonOr, queryDaemonOrLedger, requireSingleHost, withLedger } from '../control.ts';
import { renderFitting, shortPath } from '../output/file-table.ts';
import { counted, formatDuration, UNKNOWN } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { requireLoadable } from '../read-config.ts';
import { answerInLedger, tellResult } from './resume.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface AdoptOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly confirm?: boolean;
}

/** `dropcast adopt`: lists older files that the service already has; with `--confirm`, adopts them. */
export async function adopt(shell: Shell, options: AdoptOptions, folder?: string): Promise<number> {
  const { config: path, json, confirm } = options;
  if (folder !== undefined && confirm === true)
    throw new CommandError('name a folder to record its files as uploaded, or pass --confirm', exitCodes.usage);
  if (folder !== undefined) return adoptFolder(shell, resolve(shell.cwd, folder), options);
  const config = await requireDaemonPlace(shell, path);
  if (confirm === true) return confirmIn(config, shell, json === true);
  const view = await queryDaemonOrLedger<AdoptionView>(shell, config, '/adoption', async (ledger) =>
    ledger === null ? { v: 1, comparing: null, files: [] } : adoptionOf(ledger, null),
  );
  if (json === true) printJson(view, shell.stdout);
  else shell.stdout.write(report(view, shell));
  return exitCodes.fine;
}

/** Records a folder's files as already uploaded, for a ledger restored from an older copy. */
async function adoptFolder(shell: Shell, folder: string, { config: path, json }: AdoptOptions): Promise<number> {
  const place = await requireDaemonPlace(shell, path);
  const result = await commandDaemonOr<ResumeResult>(place, { path: '/adopt', body: { folder } }, async () => {
    const config = await requireLoadable(shell, path);
    return withLedger(config, (ledger) => answerInLedger(config, ledger, { folder, isAdopted: true }));
  });
  return tellResult(shell, { folder, isJson: json === true }, result);
}

async function confirmIn(config: DaemonPlace, shell: Shell, isJson: boolean): Promise<number> {
  const confirmed = await commandDaemon<Confirmed>(config, '/adoption/confirm', {}).catch(async (error: unknown) => {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notRunning) throw error;
    await requireSingleHost(config);
    const { confirmOffline } = await import('../../daemon/adoption/confirm-offline.ts');
    return confirmOffline(config);
  });
  if (isJson) printJson(confirmed, shell.stdout);
  else if (confirmed.waiting === 0) shell.stdout.write(`${wordsOf(confirmed)}\n`);
  if (confirmed.waiting === 0) return exitCodes.fine;
  throw new CommandError(
    `${counted(confirmed.waiting, 'file')} must still be compared with the service: wait until \`dropcast adopt\` shows that all have been compared`,
    exitCodes.failed,
  );
}

function wordsOf({ adopted, uploading, unclear }: Confirmed): string {
  const left =
    unclear === 0 ? '' : `; ${counted(unclear, 'file')} stay held: \`dropcast retry\` uploads the ones that you name`;
  return `Adopted ${counted(adopted, 'file')}; ${counted(uploading, 'file')} will be uploaded${left}.`;
}

const sections: Readonly<Record<Verdict, string>> = {
  adopt: 'Already hosted: would be adopted, not uploaded',
  upload: 'Not hosted: would be uploaded',
  unclear: 'Unclear: would stay held; `dropcast retry PATH` uploads one',
  waiting: 'Not compared yet',
};

function report({ comparing, files }: AdoptionView, shell: Shell): string {
  if (files.length === 0) return 'No files to adopt.\n';
  const parts = Object.entries(sections).flatMap(([verdict, title]) => {
    const those = files.filter((file) => file.verdict === verdict);
    return those.length === 0 ? [] : [`${title} (${those.length})\n${tableOf(those, shell)}`];
  });
  const isWhole = files.every(({ verdict }) => verdict !== 'waiting');
  const hint = isWhole
    ? 'Nothing is uploaded or created before you run `dropcast adopt --confirm`.'
    : `${comparing === null ? 'They are compared while dropcast is running' : comparisonWords(comparing)}.`;
  return `${parts.join('\n')}\n${hint}\n`;
}

function tableOf(files: readonly AdoptableFile[], shell: Shell): string {
  const columns = [
    { title: 'FILE', cut: 'middle' as const },
    { title: 'VIDEO' },
    { title: 'TITLE', cut: 'end' as const },
    { title: 'DURATION', align: 'right' as const },
    { title: 'WHY', cut: 'end' as const },
  ];
  const rows = files.map(({ path, videos, count, title, why, verdict }) => {
    const [video] = videos;
    return [
      shortPath(path, shell),
      count > 1 ? `${count} videos` : (video?.id ?? UNKNOWN),
      escapeControls(video?.title ?? title ?? UNKNOWN),
      formatDuration(video?.duration === undefined || video.duration === null ? null : video.duration * 1000),
      verdict === 'unclear' ? (why ?? '') : verdict === 'adopt' ? 'title and duration agree' : '',
    ];
  });
  return renderFitting(columns, rows, shell);
}
