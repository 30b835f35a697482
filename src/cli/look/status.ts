import { countUnmet, needsPerson } from '../../view/picture/sentence.ts';
import { statusView } from '../../view/picture/documents.ts';
import type { Picture } from '../../view/picture/picture.ts';
import { emptyPicture, mostOfAll, pictureWithoutDaemon } from '../../view/picture/take-picture.ts';
import { hasColour } from '../../log/colour.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { printJson } from '../output/json.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast status`: what is happening, and why. The text is that of `dropcast top --once`.
 *
 * @returns the exit code, for scripts and health checks: 0 fine, 1 when the operator has to act, 3 when the daemon is
 *   not running
 */
export async function status(
  shell: Shell,
  options: { readonly config?: string; readonly json?: boolean; readonly all?: boolean },
): Promise<number> {
  const config = await requireDaemonPlace(shell, options.config);
  const isAll = options.all === true;
  const picture = await queryDaemonOrLedger<Picture>(
    // The first line of the text already says it.
    options.json === true ? shell : null,
    config,
    isAll ? '/picture?fresh=1&all=1' : '/picture?fresh=1',
    async (ledger) =>
      ledger === null ? emptyPicture : pictureWithoutDaemon(ledger, isAll ? { listed: mostOfAll } : {}),
  );
  if (options.json === true) printJson(statusView(picture), shell.stdout);
  else await printPicture(picture, shell, isAll);
  if (!picture.daemon.running) return exitCodes.notRunning;
  return statusNeedsPerson(picture) ? exitCodes.failed : exitCodes.fine;
}

/** As wide as the terminal; unlimited in a file or pipe. */
export async function printPicture(picture: Picture, { stdout, env }: Shell, isAll = false): Promise<void> {
  // Measuring text takes 30 ms of CPU at the start, which an installation without files need not spend.
  if (picture === emptyPicture) return void stdout.write(`${picture.sentence.text}\n`);
  const { pictureLines } = await import('../output/picture-lines.ts');
  const frame = { picture, width: stdout.columns || Infinity, colour: hasColour(stdout, env), isAll };
  stdout.write(`${pictureLines(frame).join('\n')}\n`);
}

/** Pure: whether the operator has to act. An unreachable service is not a reason: dropcast resumes when it answers. */
export function statusNeedsPerson({
  waiting,
  needs_you: causes,
  needing,
  folders,
  expectations,
}: Pick<Picture, 'waiting' | 'needs_you' | 'needing' | 'folders' | 'expectations'>): boolean {
  return (
    waiting?.kind === 'suspended' ||
    needsPerson({
      needsYou: Math.max(causes.files, needing.length),
      frozenFolders: folders.filter(({ state }) => state === 'frozen').length,
      unmet: countUnmet(expectations),
    })
  );
}
