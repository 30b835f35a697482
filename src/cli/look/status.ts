import { countUnmet, needsPerson } from '../../view/words/picture-words.ts';
import { statusView } from '../../view/picture/documents.ts';
import type { Picture } from '../../view/picture/picture.ts';
import { emptyPicture, mostOfAll, pictureWithoutDaemon } from '../../view/picture/take-picture.ts';
import { hasColour } from '../../log/colour.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { printJson } from '../output/json.ts';
import type { Shared } from '../registry.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast status`: shows what is happening and why. Prints the same text as `dropcast top --once`.
 *
 * @returns the exit code, for scripts and health checks: 0 fine, 1 when the operator has to act, 3 when the daemon is
 *   not running
 */
export async function status(shell: Shell, options: Shared & { readonly all?: boolean }): Promise<number> {
  const config = await requireDaemonPlace(shell, options.config);
  const isAll = options.all === true;
  const picture = await queryDaemonOrLedger<Picture>(
    // The first line of the text already reports that the daemon is down.
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

/** Prints the picture as wide as the terminal; with unlimited width to a file or pipe. */
export async function printPicture(picture: Picture, { stdout, env }: Shell, isAll = false): Promise<void> {
  // Loading the code that measures text costs 30 ms of CPU, which an installation without files can skip.
  if (picture === emptyPicture) return void stdout.write(`${picture.sentence.text}\n`);
  const { pictureLines } = await import('../output/picture-lines.ts');
  const frame = { picture, width: stdout.columns || Infinity, colour: hasColour(stdout, env), isAll };
  stdout.write(`${pictureLines(frame).join('\n')}\n`);
}

/** Whether the operator has to act. An unreachable service does not count: dropcast resumes when it answers. Pure. */
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
