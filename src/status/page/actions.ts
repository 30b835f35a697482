import { PageError, type Action, type PageWorld, type Sent } from './world.ts';
import { first } from '../../daemon/commands/first.ts';
import { ignore } from '../../daemon/commands/ignore.ts';
import { retry } from '../../daemon/commands/retry.ts';
import type { CommandResult } from '../../daemon/commands/wanted.ts';
import { fileAddress, filesAddress, queryOf } from './elements.ts';
import { byPage, digestOf, outcomeOf } from './files/bulk-commands.ts';
import { pause, resume } from '../../daemon/commands/pause.ts';
import { pauseEnd } from '../../daemon/commands/pause-end.ts';
import { publish } from '../../daemon/commands/publish.ts';
import { tryRules } from '../../daemon/rules/try-rules.ts';
import { manyOf } from './views/many.ts';

type FileCommand = (
  daemon: PageWorld['daemon'],
  wanted: { readonly names: readonly string[]; readonly by: string },
) => Promise<Pick<CommandResult, 'refused'>>;

/** A command on one file. @throws {PageError} 409 with the reason why nothing was done */
function onFile(command: FileCommand): Action {
  return async ({ daemon }, { part }) => {
    const [refused] = (await command(daemon, { names: [part('id')], by: byPage })).refused;
    refuse(refused && `Nothing was done: ${refused.why}.`);
    return fileAddress(part('id'));
  };
}

/** @throws {PageError} 409 if there is a reason */
function refuse(why: string | false | null | undefined): void {
  if (typeof why === 'string') throw new PageError(409, why);
}

const BACK = '/folders';

/**
 * Pauses a folder, until a time if the form names one. @throws {PageError} 400 if it is not a time, 409 if the folder is
 * no longer watched
 */
export async function pauseFolder({ daemon, now }: PageWorld, { query, form }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  const text = form.get('until')?.trim() ?? '';
  const end = text === '' ? null : pauseEnd(text, now);
  if (end?.ok === false) throw new PageError(400, `Nothing was paused: ${end.message}.`);
  const { refused } = await pause(daemon, { folders: [folder], until: end?.value ?? null, by: byPage });
  refuse(refused.length > 0 && `${folder} is no longer a watched folder.`);
  return BACK;
}

/** Ends a folder's pause, and nothing else. @throws {PageError} 409 if the folder is no longer paused */
export async function resumeFolder({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  // `resume` also accepts a frozen folder, which the reader did not request here.
  refuse(!daemon.pauses.list().some((each) => each.folder === folder) && `${folder} is no longer paused.`);
  return resumed(daemon, folder);
}

/** Accepts a frozen folder. @throws {PageError} 409 if the reader confirmed something else than what holds now */
export async function acceptFolder({ daemon }: PageWorld, { query, form }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  const claim = daemon.folders.frozenFolders().find(({ path }) => path === folder)?.claim;
  const isSame = claim !== undefined && claim === form.get('claim');
  refuse(!isSame && `Nothing was done: the state of ${folder} has changed. Look at it again.`);
  return resumed(daemon, folder);
}

async function resumed(daemon: PageWorld['daemon'], folder: string): Promise<string> {
  const result = await resume(daemon, { folder, by: byPage });
  refuse(!result.ok && `${folder}: ${result.why}.`);
  return BACK;
}

/** Publishes a feed now. @throws {PageError} 409 with the reason why it is not published */
export async function publishFeed({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const feed = query.get('feed') ?? '';
  const { feeds, refused } = await publish(daemon, { feeds: [feed] });
  const why = refused[0]?.why ?? feeds.find(({ is }) => is === 'failed' || is === 'later')?.why;
  refuse(why && `${feed} is not published: ${why}.`);
  return '/';
}

/** Sends a test message to a notification target. @throws {PageError} 409 if there is no such target */
const testTarget: Action = async ({ memory, testNotifications }, { query }) => {
  const name = query.get('target') ?? '';
  const [answer] = await testNotifications(name);
  if (answer === undefined) throw new PageError(409, `No notification target is called ${name}.`);
  memory.targetTests.set(name, { ...answer, at: Date.now() });
  return '/configuration#targets';
};

/** Tries rules without applying them. @throws {PageError} 409 if the folder is no longer watched */
const tryTheRules: Action = async ({ daemon, memory, now }, { query, form }) => {
  const wanted = {
    folder: query.get('folder') ?? '',
    path: form.get('path')?.trim() ?? '',
    // Forms are sent with CR LF.
    text: (form.get('rules') ?? '').replaceAll('\r\n', '\n'),
  };
  const trial = await tryRules(daemon, wanted, now);
  if (trial === null) throw new PageError(409, `${wanted.folder} is no longer a watched folder.`);
  return `/configuration/try?trial=${memory.trials.keep(trial)}#tried`;
};

/**
 * Runs the command that the previous page asked to confirm, and redirects to the result. The address identifies the
 * files. If it now matches different files, nothing is done and the page asks again.
 *
 * @throws {PageError} see `manyOf`
 */
async function actOnMany({ daemon, now, memory }: PageWorld, { query, form }: Sent): Promise<string> {
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
  return filesAddress(queryOf(query), { outcome: memory.outcomes.keep(await outcomeOf(command, result, pathOf)) });
}

/** Begins an audit. @throws {PageError} 409 if one is running */
const beginAudit: Action = async ({ daemon }, { query }) => {
  const wanted = { folder: null, since: null, isQuick: query.get('quick') === '1' };
  refuse(!(await daemon.audit.begin(wanted, byPage)) && 'An audit is running already.');
  return '/audit';
};

const stopAudit: Action = async ({ daemon }) => {
  await daemon.audit.stop();
  return '/audit';
};

/** The page's addresses that change something. They require the `change` right, and all use POST. */
export const actions: readonly (readonly [path: string, action: Action])[] = [
  ['/files/many', actOnMany],
  ['/files/:id/retry', onFile(retry)],
  ['/files/:id/ignore', onFile(ignore)],
  ['/files/:id/unignore', onFile((daemon, wanted) => ignore(daemon, { ...wanted, isUndone: true }))],
  ['/files/:id/first', onFile(first)],
  ['/files/:id/unfirst', onFile((daemon, wanted) => first(daemon, { ...wanted, isUndone: true }))],
  ['/folders/pause', pauseFolder],
  ['/folders/resume', resumeFolder],
  ['/folders/accept', acceptFolder],
  ['/feeds/publish', publishFeed],
  ['/targets/test', testTarget],
  ['/configuration/try', tryTheRules],
  ['/audit', beginAudit],
  ['/audit/stop', stopAudit],
];
