import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { checkFolder } from './check-folder.ts';
import type { FolderAnswer, FolderHome } from './check-folder.ts';
import { givenKey } from './given-key.ts';
import type { KeyAnswer, KeyFlags } from './given-key.ts';
import { InterruptedError } from './questions.ts';
import type { Choice, Questions } from './questions.ts';
import { settler } from './settle.ts';
import type { Settle } from './settle.ts';
import { checkAddress, checkKey, checkListed } from './service-answers.ts';
import type { Account, Checked } from './service-answers.ts';

/** Answers that were given as flags. */
export interface AnswerFlags extends KeyFlags {
  readonly service?: string;
  readonly folder?: string;
  readonly channel?: string;
  readonly title?: string;
  readonly feed?: readonly string[];
  readonly yes?: boolean;
}

export interface Answers {
  readonly baseUrl: string;
  readonly key: KeyAnswer;
  readonly folder: FolderAnswer;
  readonly channel: { readonly id: string; readonly name: string | null };
  readonly title: string | null;
  readonly feeds: readonly string[];
}

/** Every answer must be a flag where nobody can be asked. */
const required = [
  { flags: ['service'], shown: '--service URL' },
  { flags: ['keyFile', 'keyEnv'], shown: '--key-file FILE (or --key-env NAME)' },
  { flags: ['folder'], shown: '--folder DIR' },
  { flags: ['channel'], shown: '--channel ID' },
] as const;

/** The flags that are missing, as a person writes them. */
export function missingFlags(given: AnswerFlags): readonly string[] {
  return required.filter(({ flags }) => flags.every((flag) => given[flag] === undefined)).map(({ shown }) => shown);
}

/**
 * All answers, each checked as soon as it is there: what is no flag is asked for.
 *
 * @param how.questions null where nobody can be asked
 * @param how.noted told of each answer but the key, as a flag would give it
 * @throws {CommandError} for a missing flag, and for one whose value cannot be used
 */
export async function collectAnswers(shell: Shell, flags: AnswerFlags, how: Asking): Promise<Answers> {
  const { questions, home, noted } = how;
  requireFlags(flags, questions);
  const settle = settler(shell, questions);
  const baseUrl = await settle('--service', flags.service, {
    ask: ({ text }) => text('Address of the API, like https://video.example.com/v1:'),
    check: (text) => checkAddress(text, shell.stopping),
  });
  noted({ service: baseUrl });
  const { key, account } = await keyAndAccount(shell, flags, { baseUrl, settle, how });
  const folder = await settle('--folder', flags.folder, {
    ask: ({ text }) => text('Folder to watch:'),
    check: (text) => checkFolder(text, home, shell),
  });
  noted({ folder: folder.path });
  const { channels, feeds: listed } = await withChannel(
    account,
    () => checkKey(baseUrl, key.value, shell.stopping),
    how,
  );
  const channel = await settle('--channel', flags.channel, {
    ask: ({ choose }) => choose('Channel of its videos:', channels),
    check: async (id) => checkListed('channel', id, channels),
  });
  noted({ channel });
  const feeds = await feedsOf(flags, listed, questions);
  noted({ feed: feeds });
  const title = flags.title ?? (await titleOf(flags, questions));
  const name = channels.find(({ value }) => value === channel)?.label ?? null;
  return { baseUrl, key, folder, channel: { id: channel, name: nameOf(name, channel) }, title, feeds };
}

/** How answers are asked for. */
export interface Asking {
  readonly questions: Questions | null;
  readonly home: FolderHome;
  /** A key that an earlier run wrote: it need not be answered again if the service accepts it. */
  readonly earlierKey?: string;
  noted(answer: AnswerFlags): void;
}

function requireFlags(flags: AnswerFlags, questions: Questions | null): void {
  const missing = missingFlags(flags);
  if (questions !== null || missing.length === 0) return;
  const why = flags.yes === true ? '--yes asks nothing' : 'there is no terminal to ask on';
  throw new CommandError(`${why}, so every answer must be a flag; missing: ${missing.join(', ')}`, exitCodes.usage);
}

async function keyAndAccount(
  shell: Shell,
  flags: AnswerFlags,
  { baseUrl, settle, how }: { readonly baseUrl: string; readonly settle: Settle; readonly how: Asking },
): Promise<{ key: KeyAnswer; account: Account }> {
  const { questions, earlierKey } = how;
  const isTyped = flags.keyFile === '-' && questions !== null;
  const given = isTyped ? null : await givenKey(shell, flags);
  const from = given?.from ?? null;
  const check = async (text: string): Promise<Checked<{ key: KeyAnswer; account: Account }>> => {
    const value = text.trim();
    const checked = await checkKey(baseUrl, value, shell.stopping);
    return checked.ok ? { ok: true, value: { key: { value, from }, account: checked.value } } : checked;
  };
  const earlier = given === null && earlierKey !== undefined ? await check(earlierKey) : null;
  if (earlier?.ok === true) return earlier.value;
  const flag = flags.keyEnv === undefined ? '--key-file' : '--key-env';
  return settle(flag, given?.value, { ask: ({ secret }) => secret('API key:'), check });
}

/** A person can create the first channel meanwhile; the other answers stay. */
async function withChannel(
  account: Account,
  look: () => Promise<Checked<Account>>,
  { questions }: Asking,
): Promise<Account> {
  const none = 'the service has no channel yet: create one there';
  for (let now = account; ;) {
    if (now.channels.length > 0) return now;
    if (questions === null) throw new CommandError(`${none}, then run this again`, exitCodes.failed);
    questions.object(none);
    if (!(await questions.confirm('Is it created?'))) throw new InterruptedError();
    const again = await look();
    if (again.ok) now = again.value;
    else questions.object(again.why);
  }
}

/** Without a flag a person is asked, if the service has any. */
async function feedsOf(
  flags: AnswerFlags,
  feeds: readonly Choice[],
  questions: Questions | null,
): Promise<readonly string[]> {
  for (const feed of flags.feed ?? []) {
    const checked = checkListed('feed', feed, feeds);
    if (!checked.ok) throw new CommandError(`--feed: ${checked.why}`, exitCodes.failed);
  }
  if (flags.feed !== undefined || flags.yes === true || questions === null || feeds.length === 0)
    return flags.feed ?? [];
  const feed = await questions.choose('Feed to publish with each video:', [{ value: '', label: 'none' }, ...feeds]);
  return feed === '' ? [] : [feed];
}

/** The file name is the title, unless somebody wants something else. */
async function titleOf({ yes }: AnswerFlags, questions: Questions | null): Promise<string | null> {
  if (questions === null || yes === true) return null;
  const title = await questions.text('Title of each video; {title} is the file name:', '{title}');
  return title === '{title}' ? null : title;
}

/** The label without the id behind it. */
function nameOf(label: string | null, id: string): string | null {
  return label === null || label === id ? null : label.replace(` (${id})`, '');
}
