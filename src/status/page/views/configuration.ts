import {
  addressOf,
  badge,
  button,
  card,
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
import { breakable, moment } from '../elements.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';

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
    ${card({ title: 'All settings', id: 'settings', wide: settingTable('All settings', view.settings) })}
    ${targetsPanel(world)}`,
  };
}

function warnings({ warnings: all }: ConfigView): Html | '' {
  if (all.length === 0) return '';
  return card({
    title: 'Warnings',
    id: 'warnings',
    aside: badge('notice', counted(all.length, 'warning')),
    body: html`<ul class="findings">
      ${all.map((warning) => html`<li data-key="${warning}">${visibleText(warning)}</li>`)}
    </ul>`,
  });
}

function tryForm(path: string, tried: TriedPath | null): Html {
  const result = (told: TriedPath): Html => ('why' in told ? html`<p>${visibleText(told.why)}</p>` : report(told));
  return card({
    title: 'Try a path',
    id: 'try',
    body: html`<form method="get" action="/configuration" class="row">
        <label class="wide"
          >Path of a file (it need not exist)
          <input name="path" value="${path}" autocomplete="off" spellcheck="false" required maxlength="4096"
        /></label>
        <button class="main">Explain</button>
      </form>
      ${tried && html`<div id="tried" role="status">${result(tried)}</div>`}`,
  });
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

type Plan = Extract<Report['explanation']['route'], { kind: 'take' }>['plan'];

function planFacts({ channel, title, description, tags, publish, priority }: Plan, sidecar: string): Html {
  const known = (text: string): Html | null => (text === '' ? null : named(text));
  return facts([
    ['Channel', named(channel)],
    ['Title', named(title)],
    ['Description', description === null ? null : named(description)],
    ['Tags', known(tags.join(', '))],
    ['Feeds', known(publish.join(', '))],
    ['Priority', priority ?? 'normal'],
    ['Sidecar', visibleText(sidecar)],
  ]);
}

function folderCard({ path, rules, settings }: FolderView, mayChange: boolean): Html {
  const other = html`<a href="/configuration/try${addressOf({ folder: path })}"
    >Try other rules${unseen(` for ${path}`)}</a
  >`;
  return card({
    title: named(path),
    key: `folder-${path}`,
    aside: html`<span class="muted">${counted(rules.length, 'rule')}; the first that matches wins</span>
      ${mayChange && other}`,
    wide: [
      rules.length === 0 ? emptyState('This folder has no rules: every file in it is held.') : ruleTable(path, rules),
      html`<details class="more">
        <summary>Settings of this folder</summary>
        ${settingTable(`Settings of ${path}`, settings)}
      </details>`,
    ],
  });
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

/** Lists the notification targets, each with its last test. Addresses and tokens are not shown: they may be secret. */
function targetsPanel({ daemon, memory, now, mayChange }: PageWorld): Html | '' {
  const targets = daemon.config().notify;
  if (targets.length === 0) return '';
  const deaf = daemon.messageTargets.deaf();
  const state = (name: string): Html | string => {
    const test = memory.targetTests.get(name);
    if (test !== undefined)
      return html`${badge(test.ok ? 'good' : 'bad', test.ok ? 'accepted' : 'failed')} ${visibleText(test.place)}:
      ${visibleText(test.answer)}, at ${moment(test.at, now)}`;
    const trouble = deaf.find((each) => each.name === name);
    if (trouble === undefined) return '';
    return html`${badge('bad', 'failed')} ${visibleText(trouble.why)}, since ${moment(trouble.since, now)}`;
  };
  const test = (name: string): Html =>
    button(`/targets/test${addressOf({ target: name })}`, html`Send a test${unseen(` to ${name}`)}`);
  const list = table({
    label: 'Notification targets',
    items: targets,
    keyOf: ({ name }) => name,
    columns: [
      { heading: 'Target', kind: 'main', cell: ({ name }) => named(name) },
      { heading: 'Type', kind: 'minor', cell: ({ type }) => type },
      { heading: 'Last test', cell: ({ name }) => state(name) },
      ...(mayChange ? [{ heading: 'Test', cell: ({ name }: { readonly name: string }) => test(name) }] : []),
    ],
  });
  return card({ title: 'Notifications', id: 'targets', wide: list });
}
