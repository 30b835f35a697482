import { adoptionOf } from '../../daemon/commands/adopt.ts';
import type { AdoptableFile, AdoptionView, Confirmed, Verdict } from '../../daemon/commands/adopt.ts';
import { comparisonWords } from '../../view/words/picture-words.ts';
import { commandDaemonOr, queryDaemonOrLedger, requireSingleHost } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { shortPath } from '../output/file-table.ts';
import { counted, formatDuration, UNKNOWN } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { adoptFolder } from './pause.ts';

export interface AdoptOptions extends Shared {
  readonly confirm?: boolean;
}

/** `dropcast adopt`: lists older files that the service already has; with `--confirm`, adopts them. */
export async function adopt(shell: Shell, options: AdoptOptions, folder?: string): Promise<number> {
  const { config, json, confirm } = options;
  if (folder !== undefined && confirm === true)
    throw new CommandError('name a folder to record its files as uploaded, or pass --confirm', exitCodes.usage);
  if (folder !== undefined) return adoptFolder(shell, options, folder);
  const place = await requireDaemonPlace(shell, config);
  if (confirm === true) return confirmIn(place, shell, json);
  const view = await queryDaemonOrLedger<AdoptionView>(shell, place, '/adoption', async (ledger) =>
    ledger === null ? { v: 1, comparing: null, files: [] } : adoptionOf(ledger, null),
  );
  printResult(view, { shell, json }, () => report(view, shell));
  return exitCodes.fine;
}

async function confirmIn(place: DaemonPlace, shell: Shell, json: boolean | undefined): Promise<number> {
  const confirmed = await commandDaemonOr<Confirmed>(place, { path: '/adoption/confirm', body: {} }, async () => {
    await requireSingleHost(place);
    const { confirmOffline } = await import('../../daemon/commands/offline.ts');
    return confirmOffline(place);
  });
  const { waiting } = confirmed;
  printResult(confirmed, { shell, json }, () => (waiting === 0 ? `${wordsOf(confirmed)}\n` : ''));
  if (waiting === 0) return exitCodes.fine;
  throw new CommandError(
    `${counted(waiting, 'file')} must still be compared with the service: wait until \`dropcast adopt\` shows that all have been compared`,
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
    return those.length === 0 ? [] : [`${title} (${those.length})\n${adoptionTable(those, shell)}`];
  });
  const isWhole = files.every(({ verdict }) => verdict !== 'waiting');
  const hint = isWhole
    ? 'Nothing is uploaded or created before you run `dropcast adopt --confirm`.'
    : `${comparing === null ? 'They are compared while dropcast is running' : comparisonWords(comparing)}.`;
  return `${parts.join('\n')}\n${hint}\n`;
}

function adoptionTable(files: readonly AdoptableFile[], shell: Shell): string {
  return tableOf(
    files,
    [
      ['FILE', ({ path }) => shortPath(path, shell), { cut: 'middle' }],
      ['VIDEO', videoOf, { isOptional: true }],
      ['TITLE', ({ videos: [video], title }) => video?.title ?? title ?? UNKNOWN, { cut: 'end' }],
      ['DURATION', durationOf, { align: 'right' }],
      ['WHY', whyOf, { cut: 'end' }],
    ],
    shell,
  );
}

function videoOf({ count, videos: [video] }: AdoptableFile): string {
  return count > 1 ? `${count} videos` : (video?.id ?? UNKNOWN);
}

function durationOf({ videos: [video] }: AdoptableFile): string {
  const seconds = video?.duration ?? null;
  return formatDuration(seconds === null ? null : seconds * 1000);
}

function whyOf({ verdict, why }: AdoptableFile): string {
  if (verdict === 'unclear') return why ?? '';
  return verdict === 'adopt' ? 'title and duration agree' : '';
}
