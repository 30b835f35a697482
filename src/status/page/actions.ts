import { PageError, type Action, type PageWorld, type Sent } from './world.ts';
import { ignore } from '../../daemon/commands/ignore.ts';
import { retry } from '../../daemon/commands/retry.ts';
import type { CommandResult } from '../../daemon/commands/wanted.ts';
import { fileAddress, filesAddress, queryOf } from './elements.ts';
import { byPage, digestOf, noticeWords } from './files/bulk-commands.ts';
import { pause, resume } from '../../daemon/commands/pause.ts';
import { manyOf } from './views/many.ts';

const retryFile: Action = ({ daemon }, { part }) => done(part('id'), retry(daemon, { names: [part('id')] }));

const ignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage }));

const unignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage, isUndone: true }));

/** @throws {PageError} 409 with the reason why nothing was done */
async function done(id: string, result: Promise<Pick<CommandResult, 'refused'>>): Promise<string> {
  const [refused] = (await result).refused;
  if (refused !== undefined) throw new PageError(409, `Nothing was done: ${refused.why}.`);
  return fileAddress(id);
}

const BACK = '/folders';

/** Pauses a folder. @throws {PageError} 409 if it is no longer watched */
export async function pauseFolder({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  const { refused } = await pause(daemon, { folders: [folder], until: null, by: byPage });
  if (refused.length > 0) throw new PageError(409, `${folder} is no longer a watched folder.`);
  return BACK;
}

/** Ends a folder's pause, and nothing else. @throws {PageError} 409 if the folder is no longer paused */
export async function resumeFolder({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  // `resume` also accepts a frozen folder, which the reader did not request here.
  if (!daemon.pauses.list().some((each) => each.folder === folder))
    throw new PageError(409, `${folder} is no longer paused.`);
  const result = await resume(daemon, { folder, by: byPage });
  if (!result.ok) throw new PageError(409, `${folder}: ${result.why}`);
  return BACK;
}

/**
 * Runs the command that the previous page asked to confirm, and redirects to the result. The address identifies the
 * files. If it now matches different files, nothing is done and the page asks again.
 *
 * @throws {PageError} see `manyOf`
 */
async function actOnMany({ daemon, now, outcomes }: PageWorld, { query, form }: Sent): Promise<string> {
  const { command, wanted } = manyOf(query, now);
  const confirmed = form.get('files') ?? '';
  const planned = await command.run(daemon, wanted, { isPlanned: true });
  if (String(planned.files) !== confirmed || digestOf(planned) !== form.get('these')) {
    const again = new URLSearchParams([...query].filter(([word]) => word !== 'was'));
    if (/^\d{1,9}$/.test(confirmed)) again.set('was', confirmed);
    return `/files/many?${again.toString()}`;
  }
  const result = await command.run(daemon, wanted, {});
  const pathOf = async (id: string): Promise<string | null> => {
    const facts = await daemon.ledger.load(id);
    return facts && `${facts.folder}/${facts.path}`;
  };
  return filesAddress(queryOf(query), {
    ...noticeWords(command.name, result),
    outcome: await outcomes.keep(result, pathOf),
  });
}

/** The page's addresses that change something. They require the `change` right, and all use POST. */
export const actions: readonly (readonly [path: string, action: Action])[] = [
  ['/files/many', actOnMany],
  ['/files/:id/retry', retryFile],
  ['/files/:id/ignore', ignoreFile],
  ['/folders/pause', pauseFolder],
  ['/folders/resume', resumeFolder],
  ['/files/:id/unignore', unignoreFile],
];
