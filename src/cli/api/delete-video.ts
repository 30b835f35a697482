import { printJson } from '../output/json.ts';
import { cutEnd } from '../output/text-width.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { canAsk, confirm } from './confirm.ts';
import type { Session } from './session.ts';

/** `dropcast videos delete ID`: deletes permanently, so asks for confirmation first. */
export async function deleteVideo(
  session: Session,
  id: string,
  options: { readonly yes?: boolean; readonly json?: boolean },
): Promise<void> {
  const { shell, client } = session;
  if (options.yes !== true) await requireConfirmation(session, id);
  await client.videos.delete(id, { signal: shell.stopping });
  if (options.json === true) printJson({ id, deleted: true }, shell.stdout);
  else shell.stdout.write(`Deleted ${escapeControls(id)}.\n`);
}

/** Width of the title in terminal columns. Enough to recognise a video; a title may have thousands of characters. */
const TITLE_WIDTH = 60;

/** @throws {CommandError} when the user declines, or there is no terminal */
async function requireConfirmation({ shell, client }: Session, id: string): Promise<void> {
  if (!canAsk(shell)) {
    throw new CommandError(
      `deleting ${escapeControls(id)} cannot be undone, so it needs a confirmation. Not a terminal: pass --yes.`,
      exitCodes.usage,
    );
  }
  const { title, status } = await client.videos.get(id, { signal: shell.stopping });
  const name =
    title === undefined ? escapeControls(id) : `${escapeControls(id)} "${cutEnd(escapeControls(title), TITLE_WIDTH)}"`;
  const question = `Delete ${name} (${escapeControls(status)}) and everything that belongs to it? This cannot be undone.`;
  if (!(await confirm(shell, question))) throw new CommandError('nothing was deleted', exitCodes.failed);
}
