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
import { pastPage, shownHost, whyNoCursor, type PastLine } from '../../../daemon/news/past-lines.ts';
import { readQuery } from '../../../view/files/query.ts';
import { isAtLeast, isIn } from '../../../daemon/news/news.ts';
import type { PastEvents } from '../memory.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';
import { fileAddress } from '../elements.ts';

const MOST_SHOWN = 100;

/**
 * Shows recent events, newest first, or all that the ledger keeps since a time, oldest first. `dropcast events` prints
 * the same lines. The filter is in the address, so that a link can be shared.
 */
export async function events(world: PageWorld, { query }: Asked): Promise<View<PageEvent>> {
  const { daemon } = world;
  const of = (name: string): string => query.get(name)?.trim() ?? '';
  const wanted = { level: of('level'), folder: of('folder'), type: of('type'), text: of('text'), since: of('since') };
  const all = daemon.news.since(-Infinity);
  const { list, aside } =
    wanted.since === ''
      ? recent(world, wanted, { all, isAll: of('all') !== '' })
      : await past(world, wanted, of('after'));
  return {
    title: 'Events',
    section: '/events',
    changesWith: ['news', 'command'],
    aside: html`<span class="muted">${aside}</span>`,
    body: html`${filterForm(
        wanted,
        daemon.config().folders.map(({ path }) => path),
        all.map(({ type }) => type).toSorted(),
      )}
      <section class="card" id="events">${list}</section>`,
  };
}

/** `since`: a time as in `dropcast ls --since`; empty for the recent events. */
type Filter = Readonly<Record<'level' | 'folder' | 'type' | 'text' | 'since', string>>;

interface Listed {
  readonly list: Html;
  readonly aside: string;
}

function recent(
  { now }: PageWorld,
  wanted: Filter,
  { all, isAll }: { readonly all: readonly NewsLine[]; readonly isAll: boolean },
): Listed {
  const found = all.filter((line) => isWanted(line, wanted)).toReversed();
  const shown = found.slice(0, isAll ? undefined : MOST_SHOWN);
  const rows = shown.map((line) => ({ ...line, key: `${line.seq}-${line.at}` }));
  return {
    aside: counted(found.length, 'event'),
    list: html`${found.length === 0 ? nothing(all.length) : eventTable('Events, newest first', rows, now)}
    ${shown.length < found.length && further({ ...wanted, all: 'yes' }, `All ${found.length}`)}`,
  };
}

/** Shows a page of kept events. A search looks at a limited number of lines; the link continues behind them. */
async function past({ daemon, now, memory }: PageWorld, wanted: Filter, after: string): Promise<Listed> {
  const { selection, problems } = readQuery({ since: wanted.since }, now);
  const problem = problems[0] ?? whyNoCursor(after);
  if (problem !== null) return { aside: '', list: html`<p class="warn" role="alert">${visibleText(problem)}</p>` };
  const search = { since: selection.since ?? 0, after, wanted };
  // Every event makes an open page ask again.
  const { lines, next } = await memory.pastEvents(JSON.stringify([after, wanted]), () => searchKept(daemon, search));
  const rows = lines.map((line) => ({ ...line, key: line.cursor }));
  return {
    aside: 'oldest first',
    list: html`${rows.length === 0 ? emptyState(next === null ? 'No kept event matches.' : 'None so far.') : eventTable('Events, oldest first', rows, now)}
    ${next !== null && further({ ...wanted, after: next }, 'Later events')}`,
  };
}

function further(query: Readonly<Record<string, string>>, words: string): Html {
  return html`<p class="pages"><a href="${addressOf(query)}">${words}</a></p>`;
}

/** Pages of 500 lines that one view searches. */
const MOST_SEARCHED = 10;

async function searchKept(
  { ledger, config }: Daemon,
  { since, after, wanted }: { readonly since: number; readonly after: string; readonly wanted: Filter },
): Promise<PastEvents> {
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

function isWanted(line: KeptLine, { level, folder, type, text }: Filter): boolean {
  if (!isAtLeast(line, level) || (type !== '' && line.type !== type)) return false;
  if (folder !== '' && !isIn(line, folder)) return false;
  if (text === '') return true;
  const said = [line.folder, line.path, line.state, line.text, line.file].join('\n').toLowerCase();
  return said.includes(text.toLowerCase());
}

function filterForm(
  { level, folder, type, text, since }: Filter,
  folders: readonly string[],
  types: readonly string[],
): Html {
  const all = { value: '', label: 'All' };
  const levels = [all, { value: 'warn', label: 'Warnings and errors' }, { value: 'error', label: 'Errors' }];
  // A chosen value stays, even if no event has it.
  const choices = (values: readonly string[], chosen: string) => [
    all,
    ...new Set([...values, chosen].filter((value) => value !== '')),
  ];
  return html`<form method="get" action="/events" class="row" id="filter">
    ${select('level', 'Level', level === 'info' ? '' : level, levels)}
    ${select('type', 'Kind', type, choices(types, type))}
    ${(folders.length > 1 || folder !== '') && select('folder', 'Folder', folder, choices(folders, folder))}
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
