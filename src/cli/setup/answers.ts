import { readRegularFile } from '../../config/file-access.ts';
import { resolvePath } from '../../config/paths.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { checkFolder } from './check-folder.ts';
import type { FolderAnswer, FolderHome } from './check-folder.ts';
import type { Choice, Questions } from './questions.ts';
import { checkAddress, checkKey, checkListed } from './service-answers.ts';
import type { Account, Checked } from './service-answers.ts';

/** Answers that were given as flags. */
export interface AnswerFlags {
  readonly service?: string;
  readonly keyFile?: string;
  readonly keyEnv?: string;
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

export interface KeyAnswer {
  readonly value: string;
  /** Where it is already: an absolute path or a variable; null: a person typed it. */
  readonly from: { readonly file: string } | { readonly env: string } | null;
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
 * @param questions null where nobody can be asked
 * @throws {CommandError} for a missing flag, and for one whose value cannot be used
 */
export async function collectAnswers(
  shell: Shell,
  flags: AnswerFlags,
  { questions, home }: { readonly questions: Questions | null; readonly home: FolderHome },
): Promise<Answers> {
  const missing = missingFlags(flags);
  if (questions === null && missing.length > 0) {
    const message = `there is no terminal to ask on, so every answer must be a flag; missing: ${missing.join(', ')}`;
    throw new CommandError(message, exitCodes.usage);
  }
  const signal = shell.stopping;
  const settle = settler(questions);
  const baseUrl = await settle('--service', flags.service, {
    ask: ({ text }) => text('Address of the API, like https://video.example.com/v1:'),
    check: (text) => checkAddress(text, signal),
  });
  const { key, account } = await keyAndAccount(shell, flags, { baseUrl, settle });
  const folder = await settle('--folder', flags.folder, {
    ask: ({ text }) => text('Folder to watch:'),
    check: (text) => checkFolder(text, home, shell),
  });
  const channel = await settle('--channel', flags.channel, {
    ask: ({ choose }) => choose('Channel of its videos:', mustHave(account.channels, 'channel')),
    check: async (id) => checkListed('channel', id, account.channels),
  });
  const feeds = await feedsOf(flags, account, questions);
  const title = flags.title ?? (await titleOf(flags, questions));
  const name = account.channels.find(({ value }) => value === channel)?.label ?? null;
  return { baseUrl, key, folder, channel: { id: channel, name: nameOf(name, channel) }, title, feeds };
}

interface Settling<T> {
  ask(questions: Questions): Promise<string>;
  check(text: string): Promise<Checked<T>>;
}

type Settle = <T>(flag: string, given: string | undefined, how: Settling<T>) => Promise<T>;

/** A flag counts; what is none is asked for until it can be used. */
function settler(questions: Questions | null): Settle {
  return async (flag, given, { ask, check }) => {
    if (given !== undefined) {
      const checked = await check(given);
      if (checked.ok) return checked.value;
      throw new CommandError(`${flag}: ${checked.why}`, exitCodes.failed);
    }
    for (;;) {
      if (questions === null) throw new CommandError(`${flag} is missing`, exitCodes.usage);
      const checked = await check(await ask(questions));
      if (checked.ok) return checked.value;
      questions.object(checked.why);
    }
  };
}

async function keyAndAccount(
  shell: Shell,
  flags: AnswerFlags,
  { baseUrl, settle }: { baseUrl: string; settle: Settle },
): Promise<{ key: KeyAnswer; account: Account }> {
  const given = await givenKey(shell, flags);
  return settle(flags.keyEnv === undefined ? '--key-file' : '--key-env', given?.value, {
    ask: ({ secret }) => secret('API key:'),
    check: async (text) => {
      const value = text.trim();
      const checked = await checkKey(baseUrl, value, shell.stopping);
      if (!checked.ok) return checked;
      return { ok: true, value: { key: { value, from: given?.from ?? null }, account: checked.value } };
    },
  });
}

const mostKeyBytes = 8 * 1024;

/** The key of a flag; null when it has to be asked for. `-` is standard input. */
export async function givenKey(shell: Shell, { keyFile, keyEnv }: AnswerFlags): Promise<KeyAnswer | null> {
  if (keyEnv !== undefined) {
    const value = shell.env[keyEnv];
    if (value === undefined || value === '')
      throw new CommandError(`--key-env: the environment variable ${keyEnv} is not set`, exitCodes.failed);
    return { value: value.trim(), from: { env: keyEnv } };
  }
  if (keyFile === undefined) return null;
  if (keyFile === '-') return { value: (await readAll(shell.stdin)).trim(), from: null };
  const file = resolvePath(keyFile, `${shell.cwd}/-`, shell);
  const read = await readRegularFile(file, mostKeyBytes);
  if (!read.ok) throw new CommandError(`--key-file: cannot read ${file}: ${read.message}`, exitCodes.failed);
  return { value: read.bytes.toString('latin1').trim(), from: { file } };
}

async function readAll(stdin: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of stdin) if (text.length < mostKeyBytes) text += String(part);
  return text;
}

function mustHave(choices: readonly Choice[], kind: string): readonly Choice[] {
  if (choices.length > 0) return choices;
  throw new CommandError(`the service has no ${kind} yet: create one there, then run this again`, exitCodes.failed);
}

/** Without a flag a person is asked, if the service has any. */
async function feedsOf(
  flags: AnswerFlags,
  { feeds }: Account,
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
