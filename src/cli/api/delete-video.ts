import { printJson } from '../output/json.ts';
import { cutEnd } from '../output/text-width.ts';
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { canAsk, confirm } from './confirm.ts';
import type { Session } from './session.ts';

/** `dropcast videos delete ID`: for good, so a person is asked first. */
export async function deleteVideo(
  session: Session,
  id: string,
  options: { readonly yes?: boolean; readonly json?: boolean },
): Promise<void> {
  const { shell, client } = session;
  if (options.yes !== true) await requireConsent(session, id);
  await client.videos.delete(id, { signal: shell.stopping });
  if (options.json === true) printJson({ id, deleted: true }, shell.stdout);
  else shell.stdout.write(`Deleted ${visible(id)}.\n`);
}

/** Enough to know it again; a title may have thousands of characters. */
const TITLE_WIDTH = 60;

/** @throws {CommandError} when the answer is no, or there is nobody to ask */
async function requireConsent({ shell, client }: Session, id: string): Promise<void> {
  if (!canAsk(shell)) {
    throw new CommandError(
      `deleting ${visible(id)} cannot be undone and there is no terminal to ask at; say --yes`,
      exitCodes.usage,
    );
  }
  const { title, status } = await client.videos.get(id, { signal: shell.stopping });
  const name = title === undefined ? visible(id) : `${visible(id)} "${cutEnd(visible(title), TITLE_WIDTH)}"`;
  const question = `Delete ${name} (${visible(status)}) with all that belongs to it? This cannot be undone.`;
  if (!(await confirm(shell, question))) throw new CommandError('nothing was deleted', exitCodes.failed);
}
