import { grouped, visibleText, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { needsYou, queryWords, type FileQuery, type QueryWord } from '../../../view/files/query.ts';
import type { FacetCount, FileFacets } from '../../../pipeline/file/selection.ts';
import { filesAddress, hidden } from '../elements.ts';

/** Maximum number of values shown directly per property; the rest are folded. */
const mostShown = 6;

/** Renders saved views, a search field, and file counts by property, as links. */
export function filters(query: FileQuery, counts: FileFacets): Html {
  return html`<nav class="saved" aria-label="Saved views" data-key="saved">
      <ul class="chips">
        ${savedViews.map(([name, saved]) => html`<li>${link(filesAddress(saved), name, isSame(saved, query))}</li>`)}
      </ul>
      ${chosen(query)}
    </nav>
    ${search(query)}
    <details class="facets" data-key="facets">
      <summary>Filter by state, folder, channel, feed or cause</summary>
      <div class="columns">
        ${facet('state', 'State', counts.stages, query)} ${facet('folder', 'Folder', counts.folders, query)}
        ${facet('channel', 'Channel', counts.channels, query)} ${facet('feed', 'Feed', counts.feeds, query)}
        ${facet('cause', 'Cause', counts.causes, query)}
      </div>
    </details>`;
}

/** Lists the filters in use, each as a link that removes it. */
function chosen(query: FileQuery): Html | '' {
  const given = queryWords.flatMap((word) => {
    const value = query[word];
    return value === undefined || value === '' ? [] : [[word, value] as const];
  });
  if (given.length === 0) return '';
  return html`<ul class="chosen" aria-label="Filters">
    ${given.map(
      ([word, value]) =>
        html`<li>
          ${link(filesAddress({ ...query, [word]: undefined }), html`${names[word]} <bdi>${visibleText(value.slice(0, 100))}</bdi>`, true)}
        </li>`,
    )}
  </ul>`;
}

const names: Readonly<Record<QueryWord, string>> = {
  state: 'State',
  stage: 'Stage',
  folder: 'Folder',
  host: 'Host',
  channel: 'Channel',
  feed: 'Feed',
  cause: 'Cause',
  since: 'Since',
  until: 'Until',
  q: 'With',
};

function search(query: FileQuery): Html {
  return html`<form method="get" action="/files" class="row" role="search" data-key="search">
    ${hidden(Object.entries({ ...query, q: undefined }))}
    <label
      >Search
      <input
        type="search"
        name="q"
        value="${query.q ?? ''}"
        maxlength="200"
        placeholder="path, title or video id"
        aria-keyshortcuts="/"
        data-keep
    /></label>
    <button>Search</button>
  </form>`;
}

/** Lists a property's values as links. Each replaces the selected value; the selected value's link clears it. */
function facet(word: QueryWord, title: string, values: readonly FacetCount[], query: FileQuery): Html | '' {
  const chosen = (query[word] ?? '').split(',').filter(Boolean);
  const missing = chosen
    .filter((one) => !values.some(({ value }) => value === one))
    .map((value) => ({ value, files: 0 }));
  const all = [...missing, ...values];
  if (all.length === 0) return '';
  const item = ({ value, files }: FacetCount): Html => {
    const isChosen = chosen.includes(value);
    const address = filesAddress({ ...query, [word]: isChosen ? undefined : value });
    return html`<li>
      ${link(address, html`<bdi>${visibleText(value)}</bdi> <span class="muted">${grouped(files)}</span>`, isChosen)}
    </li>`;
  };
  const rest = all.slice(mostShown);
  return html`<nav aria-label="${title}" data-key="facet-${word}">
    <h2>${title}</h2>
    <ul>
      ${all.slice(0, mostShown).map(item)}
    </ul>
    ${
      rest.length === 0
        ? ''
        : html`<details>
            <summary>${grouped(rest.length)} more</summary>
            <ul>
              ${rest.map(item)}
            </ul>
          </details>`
    }
  </nav>`;
}

function link(address: string, words: Html | string, isChosen: boolean): Html {
  return isChosen
    ? html`<a href="${address}" aria-current="true">${words}</a>`
    : html`<a href="${address}">${words}</a>`;
}

function isSame(one: FileQuery, other: FileQuery): boolean {
  return queryWords.every((word) => (one[word] ?? '') === (other[word] ?? ''));
}

export function isFiltered(query: FileQuery): boolean {
  return Object.values(query).some((value) => value !== undefined && value !== '');
}

/** Selections that are needed daily, each with a plain address. */
const savedViews: readonly (readonly [name: string, query: FileQuery])[] = [
  ['All', {}],
  ['Needs you', { state: needsYou }],
  ['Today', { since: 'today' }],
  ['Done today', { state: 'done', since: 'today' }],
  ['Held', { state: 'held' }],
];
