import { PageError, type Action, type PageWorld, type Sent } from './world.ts';
import { first } from '../../daemon/commands/first.ts';
import { ignore } from '../../daemon/commands/ignore.ts';
import { retry } from '../../daemon/commands/retry.ts';
import type { CommandResult } from '../../daemon/commands/wanted.ts';
import { fileAddress, filesAddress, queryOf } from './elements.ts';
import { byPage, digestOf, noticeWords } from './files/bulk-commands.ts';
import { pause, resume } from '../../daemon/commands/pause.ts';
import { pauseEnd } from '../../daemon/commands/pause-end.ts';
import { publish } from '../../daemon/commands/publish.ts';
import { tryRules } from '../../daemon/rules/try-rules.ts';
import { manyOf } from './views/many.ts';

const retryFile: Action = ({ daemon }, { part }) => done(part('id'), retry(daemon, { names: [part('id')] }));

const ignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage }));

const unignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage, isUndone: true }));

const firstFile: Action = ({ daemon }, { part }) =>
  done(part('id'), first(daemon, { names: [part('id')], by: byPage }));

const unfirstFile: Action = ({ daemon }, { part }) =>
  done(part('id'), first(daemon, { names: [part('id')], by: byPage, isUndone: true }));

/** @throws {PageError} 409 with the reason why nothing was done */
async function done(id: string, result: Promise<Pick<CommandResult, 'refused'>>): Promise<string> {
  const [refused] = (await result).refused;
  if (refused !== undefined) throw new PageError(409, `Nothing was done: ${refused.why}.`);
  return fileAddress(id);
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

/** Accepts a frozen folder. @throws {PageError} 409 if the reader confirmed something else than what holds now */
export async function acceptFolder({ daemon }: PageWorld, { query, form }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  const claim = daemon.folders.frozenFolders().find(({ path }) => path === folder)?.claim;
  if (claim === undefined || claim !== form.get('claim'))
    throw new PageError(409, `Nothing was done: the state of ${folder} has changed. Look at it again.`);
  const result = await resume(daemon, { folder, by: byPage });
  if (!result.ok) throw new PageError(409, `${folder}: ${result.why}.`);
  return BACK;
}

/** Publishes a feed now. @throws {PageError} 409 with the reason why it is not published */
export async function publishFeed({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const feed = query.get('feed') ?? '';
  const { feeds, refused } = await publish(daemon, { feeds: [feed] });
  const why = refused[0]?.why ?? feeds.find(({ is }) => is === 'failed' || is === 'later')?.why;
  if (why !== undefined) throw new PageError(409, `${feed} is not published: ${why}.`);
  return '/';
}

/** Sends a test message to a notification target. @throws {PageError} 409 if there is no such target */
const testTarget: Action = async ({ targetTests }, { query }) => {
  const name = query.get('target') ?? '';
  if (!(await targetTests.run(name))) throw new PageError(409, `No notification target is called ${name}.`);
  return '/configuration#targets';
};

/** Tries rules without applying them. @throws {PageError} 409 if the folder is no longer watched */
const tryTheRules: Action = async ({ daemon, trials, now }, { query, form }) => {
  const wanted = {
    folder: query.get('folder') ?? '',
    path: form.get('path')?.trim() ?? '',
    // Forms are sent with CR LF.
    text: (form.get('rules') ?? '').replaceAll('\r\n', '\n'),
  };
  const trial = await tryRules(daemon, wanted, now);
  if (trial === null) throw new PageError(409, `${wanted.folder} is no longer a watched folder.`);
  return `/configuration/try?trial=${trials.keep(trial)}#tried`;
};

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

/** Begins an audit. @throws {PageError} 409 if one is running */
async function beginAudit({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const wanted = { folder: null, since: null, isQuick: query.get('quick') === '1' };
  if (!(await daemon.audit.begin(wanted, byPage))) throw new PageError(409, 'An audit is running already.');
  return '/audit';
}

async function stopAudit({ daemon }: PageWorld): Promise<string> {
  await daemon.audit.stop();
  return '/audit';
}

/** The page's addresses that change something. They require the `change` right, and all use POST. */
export const actions: readonly (readonly [path: string, action: Action])[] = [
  ['/files/many', actOnMany],
  ['/files/:id/retry', retryFile],
  ['/files/:id/ignore', ignoreFile],
  ['/files/:id/first', firstFile],
  ['/files/:id/unfirst', unfirstFile],
  ['/folders/pause', pauseFolder],
  ['/folders/resume', resumeFolder],
  ['/folders/accept', acceptFolder],
  ['/feeds/publish', publishFeed],
  ['/targets/test', testTarget],
  ['/configuration/try', tryTheRules],
  ['/files/:id/unignore', unignoreFile],
  ['/audit', beginAudit],
  ['/audit/stop', stopAudit],
];
