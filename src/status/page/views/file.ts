import { basename } from 'node:path/posix';
import {
  badge,
  button,
  card,
  confirmed,
  counted,
  facts,
  named,
  span,
  table,
  visibleText,
  fileSize,
  grouped,
  outside,
  type Html,
  type View,
} from '@dropcast/pages';
import { html, raw } from 'hono/html';
import { reasonWords } from '../../../view/files/progress-words.ts';
import { showAll, type ShowView, type Span } from '../../../view/files/show-view.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { fileAddress, stageBadge, moment, momentAndSpan, breakable, filesAddress } from '../elements.ts';
import { PageError, type Asked, type PageEvent, type PageWorld } from '../world.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileView } from '../../../view/files/file-view.ts';
import { kindOf } from '../../../view/picture/stages.ts';

/** Shows everything about one file. @throws {PageError} 404 when no file has the id */
export async function file(world: PageWorld, { part }: Asked): Promise<View<PageEvent>> {
  const { daemon, now, mayChange } = world;
  const facts = await daemon.ledger.load(part('id'));
  const [shown] = facts === null ? [] : await showAll(daemon.ledger, daemon, [facts]);
  if (facts === null || shown === undefined)
    throw new PageError(404, 'No file has this id. It may belong to another ledger: search for the file by its name.');
  const { file, spans, history } = shown;
  const reason = reasonWords(file, now) || endWords(file);
  return {
    title: visibleText(basename(file.path)),
    heading: named(basename(file.path)),
    section: '/files',
    aside: stageBadge(file),
    changesWith: ['file', 'failure', 'feed', 'paused', 'resumed', 'command', 'progress'],
    body: html`<section class="card summary" data-key="now">
        ${kindIcon(file)}
        <div>
          ${reason === '' ? '' : html`<p class="reason">${visibleText(reason)}</p>`} ${await relatives(world, facts)}
          ${mayChange ? buttons(file) : ''}
        </div>
      </section>
      ${spanBars(spans, now)} ${attempts(history, now)}
      <div class="split">
        ${whereFacts(file, facts)} ${planFacts(file, { config: daemon.config(), feedLinks: daemon.feedLinks }, now)}
      </div>
      ${historyList(history, now)} ${asJson(shown)}`,
  };
}

function endWords({ state, publish }: ShowView['file']): string {
  if (state === 'done')
    return publish.length === 0 ? 'The video is ready.' : `The video is live in ${publish.join(', ')}.`;
  return state === 'superseded' ? 'The file at its path has new content.' : '';
}

/** Links to the file that replaced this one, or that it duplicates. */
async function relatives({ daemon }: PageWorld, facts: Facts): Promise<Html | ''> {
  const twin = facts.lastFailure?.twin;
  if (facts.end === 'skipped' && twin !== undefined)
    return html`<p>The same content as <a href="${fileAddress(twin)}">this file</a>, which was uploaded.</p>`;
  if (facts.end !== 'superseded' && facts.end !== 'vanished') return '';
  const [newest] = await daemon.ledger.find(`${facts.folder}/${facts.path}`);
  if (newest === undefined || newest.id === facts.id) return '';
  return html`<p><a href="${fileAddress(newest.id)}">A newer file</a> is at its path now.</p>`;
}

function buttons({ id, state, local, code, first_since: firstSince }: ShowView['file']): Html {
  const at = fileAddress(id);
  const isIn = (...states: readonly string[]): boolean => states.includes(state);
  const isStanding = isIn('failed', 'held', 'retrying', 'skipped') || local === 'waiting' || local === 'refused';
  const again =
    isIn('skipped') && code === 'ignored'
      ? button(`${at}/unignore`, 'Stop ignoring it', 'main')
      : isStanding && button(`${at}/retry`, 'Retry', 'main');
  const order = firstSince === null ? button(`${at}/first`, 'Put first') : button(`${at}/unfirst`, 'Put back in line');
  const leave = confirmed(`${at}/ignore`, {
    first: 'Ignore',
    question: 'dropcast leaves this file alone until its content changes or you retry it.',
    second: 'Ignore this file',
  });
  return html`<div class="row">
    ${again} ${isIn('queued', 'awaiting upload', 'retrying') && order}
    ${isIn('queued', 'awaiting upload', 'retrying', 'failed', 'held') && leave}
  </div>`;
}

function asJson(shown: ShowView): Html {
  return html`<details class="card fold" data-key="json">
    <summary>As JSON</summary>
    <button type="button" data-copy="file-json">Copy</button>
    <pre id="file-json" tabindex="0" role="region" aria-label="The file as JSON">${JSON.stringify(shown, null, 2)}</pre>
  </details>`;
}

function attempts(history: ShowView['history'], now: number): Html | '' {
  const failed = history.map((line, n) => ({ ...line, n })).filter(({ failure }) => failure !== null);
  if (failed.length === 0) return '';
  const list = table({
    label: 'Failed attempts, latest first',
    items: failed.toReversed(),
    keyOf: ({ n }) => String(n),
    columns: [
      { heading: 'What failed', kind: 'main', cell: ({ note }) => visibleText(note ?? 'unknown reason') },
      { heading: 'Then', cell: ({ state }) => badge(state === 'failed' ? 'bad' : 'notice', state) },
      { heading: 'HTTP', kind: 'number', cell: ({ failure }) => String(failure?.status ?? '') },
      { heading: 'Code', kind: 'minor', cell: ({ failure }) => html`<code>${visibleText(failure?.code ?? '')}</code>` },
      { heading: 'When', cell: ({ at }) => momentAndSpan(at, now) },
    ],
  });
  return card({ title: 'Failed attempts', key: 'attempts', wide: list });
}

function historyList(history: ShowView['history'], now: number): Html {
  return html`<details class="card fold" data-key="history">
    <summary>History: ${counted(history.length, 'line')}</summary>
    <div class="body">
      ${facts(
        history.map(({ at, state, note }) => [
          state,
          html`${momentAndSpan(at, now)} ${note === null ? '' : html`<span class="note">${visibleText(note)}</span>`}`,
        ]),
      )}
    </div>
  </details>`;
}

const shapes = {
  video: '<rect x="2" y="5" width="13" height="14" rx="2"/><path d="m15 10 7-4v12l-7-4z"/>',
  audio: '<path d="M9 18V5l11-2v13"/><circle cx="6" cy="18" r="3"/><circle cx="17" cy="16" r="3"/>',
  link: '<path d="M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-2 2M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l2-2"/>',
  file: '<path d="M6 3h8l4 4v14H6z"/>',
} as const;

function kindIcon(file: FileView): Html {
  const kind = kindOf(file);
  return html`<svg class="kind" viewBox="0 0 24 24" width="40" height="40" role="img" aria-label="${kind}">
    ${raw(shapes[kind])}
  </svg>`;
}

/** Draws one bar per step on a common time scale, next to the same information in words. */
function spanBars(spans: readonly Span[], now: number): Html | '' {
  const [first] = spans;
  if (first === undefined) return '';
  const from = first.started_at;
  const to = Math.max(...spans.map((one) => one.started_at + one.duration_ms), from + 1);
  const scale = (atMs: number): number => Math.round((10_000 * (atMs - from)) / (to - from)) / 100;
  const line = ({ step, started_at: startedAt, ended_at: endedAt, duration_ms: durationMs }: Span): Html => {
    const [x, end] = [scale(startedAt), scale(startedAt + durationMs)];
    return html`<li class="${endedAt === null ? 'now' : 'done'}">
      <strong>${step}</strong>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect x="${x}" y="1" height="6" width="${Math.max(0.6, end - x)}" />
      </svg>
      <span>${span(durationMs)}${endedAt === null ? ' so far' : ''}</span>
      <span class="muted">from ${moment(startedAt, now)}</span>
    </li>`;
  };
  return card({
    title: 'Steps',
    key: 'steps',
    wide: html`<ol class="spans">
      ${spans.map(line)}
    </ol>`,
  });
}

/** Shows where the file is, and its names on both sides. */
export function whereFacts(file: FileView, { folder, path }: Pick<Facts, 'folder' | 'path'>): Html {
  const rows = facts([
    ['Folder', html`<a href="${filesAddress({ folder })}">${named(folder)}</a>`],
    ['Path', named(path)],
    ['Size', file.size < 1_000 ? fileSize(file.size) : `${fileSize(file.size)} (${grouped(file.size)} bytes)`],
    ['Local file', file.local],
    ['Link file', ifKnown(file.link_file, named)],
    ['Host', ifKnown(file.host, named)],
    ['File id', code(file.id)],
    ['Video id', ifKnown(file.video_id, code)],
    ['Watch', ifKnown(file.embed_url, (url) => outside(url, 'Open the video'))],
    ['The service says', file.remote_status],
    ['Imported from', file.source_url],
    ['SHA-256', ifKnown(file.sha256, code)],
  ]);
  return card({ title: 'Where it is', key: 'where', body: rows });
}

function ifKnown<T>(value: T | null, show: (value: T) => Html): Html | null {
  return value === null ? null : show(value);
}

/** Shows the metadata for the service, and the rule that sets it. */
export function planFacts(
  file: FileView,
  { config, feedLinks }: { readonly config: ReturnType<Daemon['config']>; readonly feedLinks: Daemon['feedLinks'] },
  now: number,
): Html | '' {
  if (file.rule === null) return '';
  const feeds = file.publish.map((feed) => {
    const at = file.published[feed];
    return html`<li>
      <a href="${filesAddress({ feed })}">${named(feed)}</a>
      ${at === undefined ? 'not published yet' : html`published ${momentAndSpan(at, now)}`} ${feedLink(feed, feedLinks)}
    </li>`;
  });
  const list = html`<ul class="examples">
    ${feeds}
  </ul>`;
  const rows = facts([
    ['Channel', ifKnown(file.channel, (channel) => html`<a href="${filesAddress({ channel })}">${named(channel)}</a>`)],
    ['Title', ifKnown(file.title, named)],
    ['Description', ifKnown(file.description, named)],
    ['Tags', file.tags.length === 0 ? null : visibleText(file.tags.join(', '))],
    ['Feeds', feeds.length === 0 ? null : list],
    ['Priority', file.priority],
    ['Ready by', ifKnown(file.ready_by, (at) => momentAndSpan(at, now))],
    ['First', ifKnown(file.first_since, (at) => html`before all others, since ${momentAndSpan(at, now)}`)],
    ['Rule', ruleWords(file.rule, config)],
  ]);
  return card({ title: 'What is sent', key: 'plan', body: rows });
}

function feedLink(feed: string, feedLinks: Daemon['feedLinks']): Html | '' {
  const url = feedLinks.find(feed);
  return url === null ? '' : outside(url, 'Open the feed');
}

/** Shows the current rule, which may have changed since it accepted the file. */
function ruleWords(key: string, config: ReturnType<Daemon['config']>): Html {
  const rule = config.folders.flatMap(({ rules }) => rules).find((one) => one.key === key);
  return rule === undefined
    ? html`${code(key)}, which the configuration no longer has`
    : html`${code(key)} ${code(rule.match)}, line ${String(rule.line)} of the configuration`;
}

function code(text: string): Html {
  return html`<code>${breakable(visibleText(text))}</code>`;
}
