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
import type { NewsLine } from '../../../daemon/news/lines.ts';
import { isAtLeast, isIn } from '../../../daemon/news/news.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';
import { fileAddress } from '../elements.ts';

const MOST_SHOWN = 100;

/** Shows recent events, newest first. `dropcast events` prints the same lines. */
export function events({ daemon, now }: PageWorld, { query }: Asked): View<PageEvent> {
  const wanted = filterOf(query);
  const all = daemon.news.since(-Infinity);
  const found = all.filter((line) => isWanted(line, wanted)).toReversed();
  const shown = found.slice(0, wanted.isAll ? undefined : MOST_SHOWN);
  const folders = daemon.config().folders.map(({ path }) => path);
  return {
    title: 'Events',
    section: '/events',
    changesWith: ['news', 'command'],
    aside: html`<span class="muted">${counted(found.length, 'event')}</span>`,
    body: html`${filterForm(wanted, { folders, types: typesOf(all) })}
      <section class="card" id="events">
        ${found.length === 0 ? nothing(all.length) : eventTable(shown, now)}
        ${shown.length < found.length ? html`<p class="pages"><a href="${addressOf({ ...queryOf(wanted), all: 'yes' })}">All ${found.length}</a></p>` : ''}
      </section>`,
  };
}

interface Filter {
  readonly level: string;
  readonly folder: string;
  readonly type: string;
  readonly text: string;
  readonly isAll: boolean;
}

function filterOf(query: URLSearchParams): Filter {
  const of = (name: string): string => query.get(name)?.trim() ?? '';
  return { level: of('level'), folder: of('folder'), type: of('type'), text: of('text'), isAll: of('all') !== '' };
}

function queryOf({ level, folder, type, text }: Filter): Readonly<Record<string, string>> {
  return { level, folder, type, text };
}

function isWanted(line: NewsLine, { level, folder, type, text }: Filter): boolean {
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
  { level, folder, type, text }: Filter,
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
    ${select('type', 'Type', type, choices('All', types, type))}
    ${folders.length > 1 || folder !== '' ? select('folder', 'Folder', folder, choices('All', folders, folder)) : ''}
    <label>Text <input type="search" name="text" value="${text}" maxlength="200" spellcheck="false" /></label>
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

function eventTable(lines: readonly NewsLine[], now: number): Html {
  return table({
    label: 'Events, newest first',
    items: lines,
    keyOf: ({ seq, at }) => `event-${seq}-${at}`,
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

function about({ folder, path, file }: NewsLine): Html {
  const place = path ?? folder ?? 'dropcast';
  if (file !== null) return html`<a class="title" href="${fileAddress(file)}">${named(place)}</a>`;
  return folder === null
    ? html`<span class="title">${place}</span>`
    : html`<a class="title" href="/folders">${named(place)}</a>`;
}
