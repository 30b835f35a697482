import { CommandError, type Shell, exitCodes } from '../shell.ts';
import { type FolderAnswer, type FolderHome, checkFolder } from './check-folder.ts';
import { type KeyAnswer, type KeyFlags, givenKey } from './given-key.ts';
import { type Choice, InterruptedError, type Questions } from './questions.ts';
import { type Account, type Checked, checkAddress, checkKey, checkListed } from './service-answers.ts';

/** Answers given as flags. */
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

/** Flags that are required if there is no terminal to ask on: their names, and how they are typed. */
const required = [
  [['service'], '--service URL'],
  [['keyFile', 'keyEnv'], '--key-file FILE (or --key-env NAME)'],
  [['folder'], '--folder DIR'],
  [['channel'], '--channel ID'],
] as const;

/**
 * Collects all answers and checks each one immediately. Asks for those not given as flags.
 *
 * @param how.questions null without a terminal
 * @param how.noted receives each answer except the key, as flags
 * @throws {CommandError} for a missing flag, or one with an invalid value
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
  const name = channels.find(({ value }) => value === channel)?.name ?? null;
  return { baseUrl, key, folder, channel: { id: channel, name }, title, feeds };
}

/** What is needed to ask for answers. */
export interface Asking {
  readonly questions: Questions | null;
  readonly home: FolderHome;
  /** The key from an earlier run. It need not be entered again if the service still accepts it. */
  readonly earlierKey?: string;
  noted(answer: AnswerFlags): void;
}

function requireFlags(flags: AnswerFlags, questions: Questions | null): void {
  const missing = required.flatMap(([names, typed]) =>
    names.every((name) => flags[name] === undefined) ? [typed] : [],
  );
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

/** Waits for the operator to create the first channel if there is none. The other answers are kept. */
async function withChannel(
  account: Account,
  look: () => Promise<Checked<Account>>,
  { questions }: Asking,
): Promise<Account> {
  const none = 'the service has no channel yet: create one there';
  for (let now = account; ;) {
    if (now.channels.length > 0) return now;
    if (questions === null) throw new CommandError(`${none}, then run this again`);
    questions.object(none);
    if (!(await questions.confirm('Have you created it?'))) throw new InterruptedError();
    const again = await look();
    if (again.ok) now = again.value;
    else questions.object(again.why);
  }
}

/** Returns the feeds to publish. Asks only if no flag was given and the service has feeds. */
async function feedsOf(
  flags: AnswerFlags,
  feeds: readonly Choice[],
  questions: Questions | null,
): Promise<readonly string[]> {
  for (const feed of flags.feed ?? []) {
    const checked = checkListed('feed', feed, feeds);
    if (!checked.ok) throw new CommandError(`--feed: ${checked.why}`);
  }
  if (flags.feed !== undefined || flags.yes === true || questions === null || feeds.length === 0)
    return flags.feed ?? [];
  const feed = await questions.choose('Feed to publish with each video:', [{ value: '', label: 'none' }, ...feeds]);
  return feed === '' ? [] : [feed];
}

/** Asks for the title template. Null for the default, which is the file name. */
async function titleOf({ yes }: AnswerFlags, questions: Questions | null): Promise<string | null> {
  if (questions === null || yes === true) return null;
  const title = await questions.text('Title of each video; {title} is the file name:', '{title}');
  return title === '{title}' ? null : title;
}

export interface Settling<T> {
  ask(questions: Questions): Promise<string>;
  check(text: string): Promise<Checked<T>>;
}

type Settle = <T>(flag: string, given: string | undefined, how: Settling<T>) => Promise<T>;

/**
 * Creates a function that settles one answer: it uses the flag if given, otherwise asks until the answer is valid.
 *
 * @param questions null without a terminal
 */
export function settler({ stopping }: Pick<Shell, 'stopping'>, questions: Questions | null): Settle {
  return async (flag, given, { ask, check }) => {
    const checked = async (text: string): ReturnType<typeof check> => {
      const result = await check(text);
      if (stopping.aborted) throw new InterruptedError();
      return result;
    };
    if (given !== undefined) {
      const result = await checked(given);
      if (result.ok) return result.value;
      throw new CommandError(`${flag}: ${result.why}`);
    }
    for (;;) {
      if (questions === null) throw new CommandError(`${flag} is missing`, exitCodes.usage);
      const result = await checked(await ask(questions));
      if (result.ok) return result.value;
      questions.object(result.why);
    }
  };
}
