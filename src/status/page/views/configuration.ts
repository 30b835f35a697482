import {
  addressOf,
  badge,
  counted,
  emptyState,
  facts,
  named,
  pagination,
  table,
  unseen,
  visibleText,
  type Html,
  type View,
} from '@dropcast/pages';
import { html } from 'hono/html';
import {
  configView,
  tryPath,
  type ConfigView,
  type FolderView,
  type TriedPath,
} from '../../../daemon/rules/config-view.ts';
import { breakable } from '../elements.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';
import { targetsPanel } from './targets.ts';

const PER_PAGE = 20;

/** Shows the settings in use and where they are written, each folder's rules, and what they do with a path. */
export async function configuration(world: PageWorld, { query }: Asked): Promise<View<PageEvent>> {
  const config = world.daemon.config();
  const page = Math.max(1, Math.trunc(Number(query.get('page') ?? 1)) || 1);
  const view = configView(config, { from: (page - 1) * PER_PAGE, to: page * PER_PAGE });
  const path = query.get('path')?.trim() ?? '';
  const tried = path === '' ? null : await tryPath(world.daemon, path, world.now);
  return {
    title: 'Configuration',
    section: '/configuration',
    changesWith: ['command', 'reload'],
    aside: html`<code>${visibleText(view.file)}</code>`,
    body: html`${warnings(view)} ${tryForm(path, tried)}
      ${view.folders.map((folder) => folderCard(folder, world.mayChange))}
      ${pagination({ page, perPage: PER_PAGE, total: config.folders.length, filter: { path } })}
      <section class="card" id="settings">
        <div class="head"><h2>All settings</h2></div>
        ${settingTable('All settings', view.settings)}
      </section>
      ${targetsPanel(world)}`,
  };
}

function warnings({ warnings: all }: ConfigView): Html | '' {
  if (all.length === 0) return '';
  return html`<section class="card" id="warnings">
    <div class="head">
      <h2>Warnings</h2>
      ${badge('notice', counted(all.length, 'warning'))}
    </div>
    <div class="body">
      <ul class="findings">
        ${all.map((warning) => html`<li data-key="${warning}">${visibleText(warning)}</li>`)}
      </ul>
    </div>
  </section>`;
}

function tryForm(path: string, tried: TriedPath | null): Html {
  return html`<section class="card" id="try">
    <div class="head"><h2>Try a path</h2></div>
    <div class="body">
      <form method="get" action="/configuration" class="row">
        <label class="wide"
          >Path of a file (it need not exist)
          <input name="path" value="${path}" autocomplete="off" spellcheck="false" required maxlength="4096"
        /></label>
        <button class="main">Explain</button>
      </form>
      ${tried === null ? '' : html`<div id="tried" role="status">${'why' in tried ? html`<p>${visibleText(tried.why)}</p>` : report(tried)}</div>`}
    </div>
  </section>`;
}

type Report = Exclude<TriedPath, { readonly why: string }>;

/** Shows what rules do with a path. */
export function report({ folder, path, leftAlone, sidecar, explanation }: Report): Html {
  const { route, rules } = explanation;
  return html`<p>
      ${named(path)} in ${named(folder)}
      ${leftAlone !== null ? badge('off', 'ignored') : route.kind === 'held' ? badge('notice', 'held') : badge('good', 'taken')}
    </p>
    ${leftAlone === null ? '' : html`<p>It is ignored: ${visibleText(leftAlone)}.</p>`}
    ${route.kind === 'held' ? html`<p>${visibleText(route.why)}.</p>` : planFacts(route.plan, sidecar)}
    <ol class="verdicts">
      ${rules.map(
        ({ rule, line, match, matched, reason }) =>
          html`<li class="${matched ? 'matched' : ''}" data-key="${rule}">
            <code>${breakable(visibleText(match))}</code>
            <span>${matched ? html`<strong>matches</strong>` : visibleText(reason ?? '')}</span>
            <span class="muted">line ${line}</span>
          </li>`,
      )}
    </ol>`;
}

function planFacts(
  {
    channel,
    title,
    description,
    tags,
    publish,
    priority,
  }: Extract<Report['explanation']['route'], { kind: 'take' }>['plan'],
  sidecar: string,
): Html {
  return facts([
    ['Channel', named(channel)],
    ['Title', named(title)],
    ['Description', description === null ? null : named(description)],
    ['Tags', tags.length === 0 ? null : named(tags.join(', '))],
    ['Feeds', publish.length === 0 ? null : named(publish.join(', '))],
    ['Priority', priority ?? 'normal'],
    ['Sidecar', visibleText(sidecar)],
  ]);
}

function folderCard({ path, rules, settings }: FolderView, mayChange: boolean): Html {
  return html`<section class="card" data-key="folder-${path}">
    <div class="head">
      <h2>${named(path)}</h2>
      <span class="muted">${counted(rules.length, 'rule')}; the first that matches wins</span>
      ${mayChange ? html`<a href="/configuration/try${addressOf({ folder: path })}">Try other rules${unseen(` for ${path}`)}</a>` : ''}
    </div>
    ${rules.length === 0 ? emptyState('This folder has no rules: every file in it is held.') : ruleTable(path, rules)}
    <details class="more">
      <summary>Settings of this folder</summary>
      ${settingTable(`Settings of ${path}`, settings)}
    </details>
  </section>`;
}

function ruleTable(path: string, rules: FolderView['rules']): Html {
  return table({
    label: `Rules of ${path}`,
    items: rules,
    keyOf: ({ key }) => key,
    columns: [
      { heading: 'Line', cell: ({ line }) => String(line) },
      {
        heading: 'Match',
        kind: 'main',
        cell: ({ match, warning }) =>
          html`<code>${breakable(visibleText(match))}</code
            >${warning === null ? '' : html`<span class="odd">${badge('notice', 'check this')} ${visibleText(warning)}</span>`}`,
      },
      { heading: 'Channel', cell: ({ channel }) => named(channel) },
      { heading: 'Title', kind: 'minor', cell: ({ title }) => html`<code>${breakable(visibleText(title))}</code>` },
      { heading: 'Tags', kind: 'minor', cell: ({ tags }) => named(tags.join(', ')) },
      { heading: 'Feeds', kind: 'minor', cell: ({ publish }) => named(publish.join(', ')) },
    ],
  });
}

function settingTable(label: string, settings: FolderView['settings']): Html {
  return table({
    label,
    items: settings,
    keyOf: ({ key }) => key,
    columns: [
      { heading: 'Key', kind: 'main', cell: ({ key }) => html`<code>${breakable(visibleText(key))}</code>` },
      { heading: 'Value', cell: ({ value }) => html`<code>${breakable(visibleText(value))}</code>` },
      {
        heading: 'From',
        cell: ({ line }) =>
          line === null ? html`<span class="muted">default</span>` : html`${unseen('from the file, ')}line ${line}`,
      },
    ],
  });
}
