import { basename, extname } from 'node:path/posix';
import type { Message, NewsKind } from '@dropcast/notify';
import type { HistoryRows } from '../../ledger/history.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { viewOf } from '../../view/files/file-view.ts';
import { causeOf, nextForSender, type Cause } from '../../view/picture/causes.ts';
import { counted, wholeSentence } from '../../view/words/text.ts';

/** How far the history has been read for news, in line numbers. */
export interface Cursor {
  /** Line at which reading began; earlier events are not news. */
  readonly from: number;
  readonly read: number;
}

/** Maximum number of lines read at a time; the rest follows with the next message. */
const mostLines = 20_000;

const needing = ['failed', 'held'];
const told = ['done', ...needing];

/**
 * Reads the file events since the last check. They come from the ledger, so nothing is lost or invented if the daemon
 * is killed between writing a row and its message.
 *
 * @returns `isAll` false when there is more to read
 */
export async function newsOfFiles(
  ledger: RowStore<'any'> & HistoryRows,
  cursor: Cursor,
  about: NewsContext,
): Promise<{ readonly news: readonly FileNews[]; readonly cursor: Cursor; readonly isAll: boolean }> {
  // Limits the cursor to the last line: a ledger restored from a copy is behind.
  const last = await ledger.lastPassage();
  const read = Math.min(cursor.read, last);
  const from = Math.min(cursor.from, last);
  const passages = await ledger.passages(read, told, mostLines);
  const isAll = passages.length < mostLines;
  const end = isAll ? last : (passages.at(-1)?.seq ?? last);
  const ids = [...new Set(passages.map(({ id }) => id))];
  const files = ids.length === 0 ? [] : await ledger.rows({ group: 'any', where: { ids } });
  const before = ids.length === 0 ? new Map<string, never>() : await ledger.lastStates(ids, told, read);
  const stateBefore = (id: string): string | null => {
    const line = before.get(id);
    // Failures before the first notification were never announced.
    return line === undefined || (line.seq <= from && line.state !== 'done') ? null : line.state;
  };
  return {
    news: files.flatMap((facts) =>
      newsOf(facts, stateBefore(facts.id)).map((each) => ({ ...each, ...addressed(facts, about) })),
    ),
    cursor: { from, read: end },
    isAll,
  };
}

/** What rows do not say about their news. */
export interface NewsContext {
  readonly feedUrl: (feed: string) => string | null;
  /** Names of the targets that are notified because of the file's folder, rule or owner. */
  readonly recipientsOf: (facts: Facts) => readonly string[];
}

function addressed(facts: Facts, { feedUrl, recipientsOf }: NewsContext): Pick<FileNews, 'feedUrls' | 'recipients'> {
  const feeds = facts.plan?.publish ?? [];
  return { feedUrls: feeds.flatMap((feed) => feedUrl(feed) ?? []), recipients: recipientsOf(facts) };
}

type RowNews = Omit<FileNews, 'feedUrls' | 'recipients'>;

/** Only the current state counts: a file that failed and was fixed within a minute is reported as live only. */
function newsOf(facts: Facts, before: string | null): readonly RowNews[] {
  const { id, folder, path, embedUrl, end, disposal, why, lastFailure } = facts;
  const shown = { id, path: escapeControls(`${folder}/${path}`), embedUrl, cause: '', why: '', next: '' };
  const need: RowNews = {
    ...shown,
    happened: 'needs you',
    cause: viewOf(null, facts).cause ?? '',
    why: escapeControls(why ?? lastFailure?.message ?? 'unknown reason'),
    next: `See it with dropcast show ${id}`,
  };
  if (end === 'failed' || end === 'held') return [need];
  if (end !== 'done') return [];
  const well: RowNews = { ...shown, happened: before === null ? 'live' : 'recovered' };
  // Later lines about a live file concern its local file or its feeds.
  return [...(before === 'done' ? [] : [well]), ...(disposal === 'waiting' ? [need] : [])];
}

/** News about one file. */
export interface FileNews {
  readonly id: string;
  /** Absolute path. */
  readonly path: string;
  /** Where the video is watched, or null. */
  readonly embedUrl: string | null;
  /** Where its feeds are read, as far as known. */
  readonly feedUrls: readonly string[];
  /** Names of the targets that are notified because of its folder, rule or owner. */
  readonly recipients: readonly string[];
  readonly happened: 'live' | 'needs you' | 'recovered';
  /** Key of the reason, the same for all files that need a person for that reason. */
  readonly cause: string;
  readonly why: string;
  /** The next step for a person. */
  readonly next: string;
}

/** Maximum number of file names in one message. */
const mostNames = 5;

/** Maximum number of simultaneous messages about files that need a person; further causes share one message. */
const mostCauses = 4;

/** Builds the messages for one person about the files that concern them. Pure. */
export function personalMessages(news: readonly FileNews[], target: string, at: number): readonly Message[] {
  // Local files that cannot be put away concern operators: the video is live.
  const own = news.filter(({ recipients, cause }) => recipients.includes(target) && !cause.startsWith('local.'));
  return fileMessages(own, at, 'sender');
}

/** `operator` runs dropcast; `sender` dropped the files and has no shell. */
type Reader = 'operator' | 'sender';

/** Builds messages for the last minute's events: one for live files, one for each cause. Pure. */
export function fileMessages(news: readonly FileNews[], at: number, reader: Reader = 'operator'): readonly Message[] {
  const of = (happened: FileNews['happened']): readonly FileNews[] => news.filter((each) => each.happened === happened);
  const needing = Map.groupBy(of('needs you'), ({ cause }) => cause);
  const grouped = needing.size <= mostCauses ? [...needing.values()] : [];
  return [
    ...(needing.size > mostCauses ? [manyCauses([...needing.values()], at, reader)] : []),
    ...grouped.map((files) => needsYou(files, at, reader)),
    ...allWell(of('recovered'), 'recovered', at),
    ...allWell(of('live'), 'live', at),
  ];
}

function needsYou(files: readonly FileNews[], at: number, reader: Reader): Message {
  const [first] = files;
  const { cause = '', why = '', next = '' } = first ?? {};
  // Uses the same words as the page and status.
  const common = commonCause(files);
  const steps = [common.next, ...(files.length === 1 && next !== '' ? [next] : [])];
  // The reason may already contain the next step.
  const reasons = common.next.includes(why.slice(1)) ? [] : [why];
  const words = reader === 'sender' ? [reasonFor(why, common), nextForSender(cause)] : [...reasons, ...steps];
  const body = [words.map(wholeSentence).join(' '), ...names(files)];
  const title = files.length === 1 ? `${nameOf(first)} needs you` : `Needs you: ${common.title}`;
  const view = viewOfFiles(files, `cause=${encodeURIComponent(cause)}`);
  return message('needs_you', files, { cause: `needs you: ${cause}`, title, body, at, view });
}

/** A reason with a command is of no use to a person without a shell. */
function reasonFor(why: string, common: Cause): string {
  return why.includes('`') ? common.title : why;
}

/** Where on the status page these files are. */
function viewOfFiles(files: readonly FileNews[], query: string): string {
  const [first] = files;
  return files.length === 1 ? `files/${first?.id ?? ''}` : `files?${query}`;
}

function manyCauses(groups: readonly (readonly FileNews[])[], at: number, reader: Reader): Message {
  const files = groups.flat();
  const title = `${files.length} files need you, for ${groups.length} reasons`;
  const lines = groups.toSorted((one, other) => other.length - one.length).map((group) => causeLine(group));
  const body = [...lines.slice(0, 10), ...more(lines.length - 10, 'reason')];
  const command = reader === 'operator' ? ['See all of them: dropcast status'] : [];
  const view = 'files?state=needs-you';
  return message('needs_you', files, { cause: 'needs you', title, body: [...body, ...command], at, view });
}

function causeLine(group: readonly FileNews[]): string {
  const [first] = group;
  return group.length === 1 ? `${nameOf(first)}: ${first?.why ?? ''}` : commonCause(group).title;
}

function allWell(files: readonly FileNews[], type: 'live' | 'recovered', at: number): readonly Message[] {
  if (files.length === 0) return [];
  const [first] = files;
  const words = type === 'live' ? '' : ', and needed you before';
  const title = files.length === 1 ? `${nameOf(first)} is live${words}` : `${files.length} files are live${words}`;
  const body = files.length === 1 && first !== undefined ? [first.path, ...linksOf(first)] : names(files, linksOf);
  return [message(type, files, { cause: type, title, body, at, view: viewOfFiles(files, 'state=done') })];
}

function message(
  type: NewsKind,
  files: readonly FileNews[],
  {
    body,
    ...rest
  }: Pick<Message, 'cause' | 'title' | 'at'> & { readonly body: readonly string[]; readonly view: string },
): Message {
  const ids = files.slice(0, mostNames).map(({ id }) => id);
  const level = type === 'needs_you' ? 'warn' : 'info';
  return {
    type,
    ...(type === 'recovered' && { of: 'needs_you' as const }),
    level,
    count: files.length,
    files: ids,
    body: body.join('\n'),
    ...rest,
  };
}

function commonCause(files: readonly FileNews[]): Cause {
  const endings = Map.groupBy(files, ({ path }) => extname(path).slice(1).toLowerCase());
  const byNumber = [...endings].toSorted(([, one], [, other]) => other.length - one.length);
  const [first] = files;
  const message = first?.why ?? '';
  return causeOf({
    cause: first?.cause ?? '',
    files: files.length,
    extensions: byNumber.map(([ending]) => ending),
    message,
  });
}

/** Maximum length of a file's links in a message, so that a message fits into what chats and ntfy accept. */
const longestLinks = 500;

function linksOf({ embedUrl, feedUrls }: FileNews): readonly string[] {
  let left = longestLinks;
  return [embedUrl ?? '', ...feedUrls].flatMap((url) => {
    if (url === '' || url.length > left) return [];
    left -= url.length;
    // Senders break up what begins a mention or a link in a chat's markup. Encoded, the address leads to the same page.
    return url.replaceAll(/@|\](?=[([])/g, encodeURIComponent);
  });
}

function names(files: readonly FileNews[], below: (file: FileNews) => readonly string[] = () => []): readonly string[] {
  const shown = files.slice(0, mostNames).flatMap((file) => [`${file.path} (${file.id})`, ...below(file)]);
  return [...shown, ...more(files.length - mostNames, 'file')];
}

function more(n: number, what: string): readonly string[] {
  return n <= 0 ? [] : [`and ${counted(n, `more ${what}`)}`];
}

function nameOf(file: FileNews | undefined): string {
  return basename(file?.path ?? '');
}
