import {
  addressOf,
  badge,
  counted,
  emptyState,
  named,
  select,
  table,
  time,
  visibleText,
  type BadgeKind,
  type Html,
  type View,
} from '@dropcast/pages';
import { html } from 'hono/html';
import { clockTime, dayAndSecond } from '../../../view/words/text.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { KeptLine, NewsLine } from '../../../daemon/news/lines.ts';
import { pastPage, shownHost, whyNoCursor, type PastLine, type PastPage } from '../../../daemon/news/past-lines.ts';
import { readQuery } from '../../../view/files/query.ts';
import { isAtLeast, isIn } from '../../../daemon/news/news.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';
import { fileAddress } from '../elements.ts';

const MOST_SHOWN = 100;

/**
 * Shows recent events, newest first, or all that the ledger keeps since a time, oldest first. `dropcast events` prints
 * the same lines. The filter is in the address, so that a link can be shared.
 */
export async function events(world: PageWorld, asked: Asked): Promise<View<PageEvent>> {
  const { daemon } = world;
  const wanted = filterOf(asked.query);
  const all = daemon.news.since(-Infinity);
  const folders = daemon.config().folders.map(({ path }) => path);
  const { list, aside } = wanted.since === '' ? recent(world, wanted, all) : await past(world, wanted, asked);
  return {
    title: 'Events',
    section: '/events',
    changesWith: ['news', 'command'],
    aside: html`<span class="muted">${aside}</span>`,
    body: html`${filterForm(wanted, { folders, types: typesOf(all) })}
      <section class="card" id="events">${list}</section>`,
  };
}

interface Listed {
  readonly list: Html;
  readonly aside: string;
}

function recent({ now }: PageWorld, wanted: Filter, all: readonly NewsLine[]): Listed {
  const found = all.filter((line) => isWanted(line, wanted)).toReversed();
  const shown = found.slice(0, wanted.isAll ? undefined : MOST_SHOWN);
  const rows = shown.map((line) => ({ ...line, key: `${line.seq}-${line.at}` }));
  return {
    aside: counted(found.length, 'event'),
    list: html`${found.length === 0 ? nothing(all.length) : eventTable('Events, newest first', rows, now)}
    ${shown.length < found.length ? html`<p class="pages"><a href="${addressOf({ ...queryOf(wanted), all: 'yes' })}">All ${found.length}</a></p>` : ''}`,
  };
}

/** Shows a page of kept events. A search looks at a limited number of lines; the link continues behind them. */
async function past({ daemon, now }: PageWorld, wanted: Filter, { query }: Asked): Promise<Listed> {
  const { selection, problems } = readQuery({ since: wanted.since }, now);
  const after = query.get('after') ?? '';
  const problem = problems[0] ?? whyNoCursor(after);
  if (problem !== null) return { aside: '', list: html`<p class="warn" role="alert">${visibleText(problem)}</p>` };
  const { lines, next } = await keptEvents(daemon, { since: selection.since ?? 0, after, wanted });
  const rows = lines.map((line) => ({ ...line, key: line.cursor }));
  return {
    aside: 'oldest first',
    list: html`${rows.length === 0 ? emptyState(next === null ? 'No kept event matches.' : 'None so far.') : eventTable('Events, oldest first', rows, now)}
    ${next === null ? '' : html`<p class="pages"><a href="${addressOf({ ...queryOf(wanted), after: next })}">Later events</a></p>`}`,
  };
}

/** Pages of 500 lines that one view searches. */
const MOST_SEARCHED = 10;

/** How long a search is reused, in milliseconds: every event makes an open page ask again. */
const REUSED_MS = 10_000;

type Kept = Pick<PastPage, 'lines' | 'next'>;

const lastSearch = new WeakMap<
  Daemon,
  { readonly key: string; readonly until: number; readonly found: Promise<Kept> }
>();

interface Search {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly after: string;
  readonly wanted: Filter;
}

function keptEvents(daemon: Daemon, search: Search): Promise<Kept> {
  const key = JSON.stringify([search.after, search.wanted]);
  const last = lastSearch.get(daemon);
  if (last?.key === key && performance.now() < last.until) return last.found;
  const found = searchKept(daemon, search);
  lastSearch.set(daemon, { key, until: performance.now() + REUSED_MS, found });
  return found;
}

async function searchKept({ ledger, config }: Daemon, { since, after, wanted }: Search): Promise<Kept> {
  const lines: PastLine[] = [];
  let cursor = after;
  for (let n = 0; n < MOST_SEARCHED; n += 1) {
    const page = await pastPage(ledger, { host: shownHost(config()), since, after: cursor });
    lines.push(...page.lines.filter((line) => isWanted(line, wanted)));
    const last = lines[MOST_SHOWN - 1];
    if (last !== undefined && lines.length > MOST_SHOWN)
      return { lines: lines.slice(0, MOST_SHOWN), next: last.cursor };
    if (page.next === null) return { lines, next: null };
    cursor = page.next;
  }
  return { lines, next: cursor };
}

interface Filter {
  readonly level: string;
  readonly folder: string;
  readonly type: string;
  readonly text: string;
  /** A time as in `dropcast ls --since`; empty for the recent events. */
  readonly since: string;
  readonly isAll: boolean;
}

function filterOf(query: URLSearchParams): Filter {
  const of = (name: string): string => query.get(name)?.trim() ?? '';
  const [level, folder, type, text, since] = [of('level'), of('folder'), of('type'), of('text'), of('since')];
  return { level, folder, type, text, since, isAll: of('all') !== '' };
}

function queryOf(wanted: Filter): Readonly<Record<string, string>> {
  const { isAll: _, ...filter } = wanted;
  return filter;
}

function isWanted(line: KeptLine, { level, folder, type, text }: Filter): boolean {
  if (!isAtLeast(line, level) || (type !== '' && line.type !== type)) return false;
  if (folder !== '' && !isIn(line, folder)) return false;
  if (text === '') return true;
  const said = [line.folder, line.path, line.state, line.text, line.file].join('\n').toLowerCase();
  return said.includes(text.toLowerCase());
}

function typesOf(lines: readonly NewsLine[]): readonly string[] {
  return [...new Set(lines.map(({ type }) => type))].toSorted();
}

function filterForm(
  { level, folder, type, text, since }: Filter,
  { folders, types }: { readonly folders: readonly string[]; readonly types: readonly string[] },
): Html {
  const choices = (label: string, values: readonly string[], chosen: string) => [
    { value: '', label },
    ...[...new Set([...values, ...(chosen === '' ? [] : [chosen])])].map((value) => ({ value, label: value })),
  ];
  const levels = [
    { value: '', label: 'All' },
    { value: 'warn', label: 'Warnings and errors' },
    { value: 'error', label: 'Errors' },
  ];
  return html`<form method="get" action="/events" class="row" id="filter">
    ${select('level', 'Level', level === 'info' ? '' : level, levels)}
    ${select('type', 'Kind', type, choices('All', types, type))}
    ${folders.length > 1 || folder !== '' ? select('folder', 'Folder', folder, choices('All', folders, folder)) : ''}
    <label>File or text <input type="search" name="text" value="${text}" maxlength="200" spellcheck="false" /></label>
    <label
      >Since <input name="since" value="${since}" size="16" maxlength="40" placeholder="today, 7d, 2026-11-20"
    /></label>
    <button>Show</button>
  </form>`;
}

function nothing(remembered: number): Html {
  return remembered === 0
    ? emptyState('Nothing has happened yet.', 'dropcast events --follow')
    : emptyState(`None of the ${counted(remembered, 'remembered event')} matches.`);
}

const BADGES: Readonly<Record<NewsLine['level'], readonly [BadgeKind, string]>> = {
  info: ['off', 'info'],
  warn: ['notice', 'warning'],
  error: ['bad', 'error'],
};

function eventTable(label: string, lines: readonly (KeptLine & { readonly key: string })[], now: number): Html {
  return table({
    label,
    items: lines,
    keyOf: ({ key }) => `event-${key}`,
    columns: [
      { heading: 'Time', cell: ({ at }) => time(at, `${clockTime(at, now)}:${dayAndSecond(at).slice(-2)}`) },
      { heading: 'Level', kind: 'minor', cell: ({ level }) => badge(...BADGES[level]) },
      {
        heading: 'Event',
        kind: 'main',
        cell: (line) =>
          html`<span class="event"
            >${about(line)} <span class="said ${line.level}">${visibleText(line.text)}</span></span
          >`,
      },
    ],
  });
}

function about({ folder, path, file }: KeptLine): Html {
  const place = path ?? folder ?? 'dropcast';
  if (file !== null) return html`<a class="title" href="${fileAddress(file)}">${named(place)}</a>`;
  return folder === null
    ? html`<span class="title">${place}</span>`
    : html`<a class="title" href="/folders">${named(place)}</a>`;
}
