import { posix } from 'node:path';
import {
  addressOf,
  badge,
  card,
  confirmed,
  counted,
  grouped,
  named,
  select,
  visibleText,
  fileSize,
  span,
  table,
  unseen,
  outside,
  type Html,
  type BadgeKind,
} from '@dropcast/pages';
import { html } from 'hono/html';
import type { CauseView, NeedsYou, NowFile, Picture, FeedView } from '../../../view/picture/picture.ts';
import { needsYou } from '../../../view/files/query.ts';
import { bulkCommands } from '../files/bulk-commands.ts';
import { moment, filesAddress, hostName, momentAndSpan, fileAddress, hidden, stageBadge } from '../elements.ts';
import { rate } from '../../../view/words/text.ts';
import type { FleetStatus, HostView } from '../../../view/hosts/host-view.ts';
import { fleetTroubles, hostWords } from '../../../view/hosts/host-words.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { PageWorld } from '../world.ts';

/**
 * Lists files that only a person can settle, one line per cause.
 *
 * @param world.channels channels that files can be sent to; null for a reader who may not change anything
 */
export function needsYouPanel(
  { files, causes, more }: NeedsYou,
  { now, channels }: { readonly now: number; readonly channels: readonly string[] | null },
): Html | '' {
  if (files === 0) return '';
  const others = html`<p class="body">
    <a href="/files?state=${needsYou}"
      >And ${counted(more.files, 'file')} for ${counted(more.causes, 'other reason')}</a
    >
  </p>`;
  return card({
    title: 'Needs you',
    key: 'needs-you',
    landmark: 'Needs you',
    aside: html`<span class="muted">${counted(files, 'file')}</span>`,
    wide: [
      html`<ul class="causes">
        ${causes.map((cause) => html`<li data-key="cause-${cause.key}">${one(cause, now)} ${channels && deeds(cause, channels)}</li>`)}
      </ul>`,
      more.causes === 0 ? '' : others,
    ],
  });
}

function one({ key, title, next, files, since, examples }: CauseView, now: number): Html {
  const address = `/files?${selectionOf(key).toString()}`;
  const begun = since === null ? '' : html`<span class="muted">since ${moment(since, now)}</span>`;
  return html`<h3>${badge('notice', grouped(files))} <a href="${address}">${visibleText(title)}</a> ${begun}</h3>
    <p>${visibleText(next)}</p>
    <ul class="examples">
      ${examples.map(
        ({ id, path, why }) =>
          html`<li>
            <a href="${fileAddress(id)}">${named(path)}</a
            >${why === null ? '' : html`: <span class="muted">${visibleText(why)}</span>`}
          </li>`,
      )}
      ${files > examples.length ? html`<li><a href="${address}">all ${grouped(files)}</a></li>` : ''}
    </ul>`;
}

/** The buttons lead to a page that states the number of files and the cost before anything is done. */
function deeds({ key, actions, files }: CauseView, channels: readonly string[]): Html | '' {
  const possible = bulkCommands.filter(({ name }) => actions.some((action) => action === name));
  if (possible.length === 0) return '';
  const which = files === 1 ? 'it' : `all ${grouped(files)}`;
  return html`<div class="deeds">
    ${possible.map(({ name, label, needsChannel }) =>
      needsChannel === true
        ? sendElsewhere(key, which, channels)
        : html`<a href="/files/many?do=${name}&amp;which=all&amp;${selectionOf(key).toString()}"
            >${label} ${which}…</a
          >`,
    )}
  </div>`;
}

function sendElsewhere(key: string, which: string, channels: readonly string[]): Html | '' {
  if (channels.length === 0) return '';
  return html`<form method="get" action="/files/many">
    ${hidden([['do', 'send elsewhere'], ['which', 'all'], ...selectionOf(key)])}
    ${select('to', `Send ${which} to`, undefined, channels)}
    <button>Send…</button>
  </form>`;
}

/** Limited to files that need a person: files waiting for a retry may have the same cause. */
function selectionOf(cause: string): URLSearchParams {
  return new URLSearchParams({ state: needsYou, cause });
}

/** Lists files in progress in order of arrival, so that rows keep their places. */
export function nowPanel({ files, more }: Picture['now'], now: number): Html | '' {
  if (files.length === 0) return '';
  const list = table({
    label: 'Files under way',
    items: files,
    keyOf: ({ id }) => id,
    columns: [
      { heading: 'File', kind: 'main', cell: fileCell },
      { heading: 'State', cell: (file) => html`${stageCell(file)} ${whenCell(file, now)}` },
    ],
  });
  const rest = html`<p class="body muted">And ${grouped(more)} more: each stage above leads to its files.</p>`;
  return card({ title: 'Now', key: 'now', wide: [list, more === 0 ? '' : rest] });
}

function fileCell({ id, path, kind }: NowFile): Html {
  return html`<span class="kind" aria-hidden="true">${ICONS[kind]}</span>${unseen(`${kind}: `)}<a
      href="${fileAddress(id)}"
      title="${visibleText(path)}"
      >${named(posix.basename(path))}</a
    >`;
}

const ICONS: Readonly<Record<NowFile['kind'], string>> = { video: '▶', audio: '♪', link: '↗', file: '▪' };

function stageCell(file: NowFile): Html {
  const { state, sent, size, bytes_per_second: speed } = file;
  if (state !== 'uploading' || sent === null) return stageBadge(file);
  const share = size > 0 ? Math.floor((100 * sent) / size) : 0;
  return html`${stageBadge(file)}
    <progress max="100" value="${share}" aria-label="${share} % sent"></progress>
    <span class="muted">${fileSize(sent)} of ${fileSize(size)}${speed === null ? '' : `, ${rate(speed)}`}</span>`;
}

function whenCell(
  { ready_at: readyAt, sent_at: sentAt, next_look_at: look, state, why, host }: NowFile,
  now: number,
): Html {
  const inMs = look === null ? 0 : look - now;
  const next = state === 'retrying' ? 'next try in' : 'next check in';
  const parts = [
    readyAt === null ? '' : html`ready at ${moment(readyAt, now)}`,
    readyAt === null && sentAt !== null ? html`sent at ${moment(sentAt, now)}` : '',
    inMs >= 1_000 ? `${next} ${span(Math.round(inMs / 1_000) * 1_000)}` : '',
    why === null ? '' : visibleText(why),
    host === null ? '' : html`on ${named(host)}`,
  ].filter((part) => part !== '');
  return html`<span class="when">${parts.map((part, n) => html`${n === 0 ? '' : '; '}${part}`)}</span>`;
}

/** Shows a fleet's hosts and their problems. A fleet of one host is hidden while it runs without problems. */
export function hostsPanel(fleet: FleetStatus | null, now: number): Html | '' {
  if (fleet === null) return '';
  const troubles = fleetTroubles(fleet, now);
  const { hosts } = fleet;
  if (troubles.length === 0 && hosts.length < 2 && hosts.every(({ state }) => state === 'running')) return '';
  const list = table({
    label: 'Hosts of this fleet',
    items: hosts,
    keyOf: ({ name }) => name,
    columns: [
      { heading: 'Host', kind: 'main', cell: nameCell },
      { heading: 'State', cell: ({ state }) => badge(HOST_BADGES[state], state) },
      { heading: 'Activity', cell: (host) => doesCell(host, now) },
      { heading: 'Version', kind: 'minor', cell: ({ version }) => visibleText(version) },
      { heading: 'Last heard', kind: 'minor', cell: ({ heard_at: at }) => moment(at, now) },
    ],
  });
  const warnings = troubles.map((words) => html`<p class="body warn">${visibleText(words)}</p>`);
  return card({ title: 'Hosts', key: 'hosts', wide: [...warnings, list] });
}

const HOST_BADGES: Readonly<Record<HostView['state'], BadgeKind>> = {
  running: 'good',
  draining: 'notice',
  drained: 'off',
  silent: 'bad',
  stopped: 'off',
};

function nameCell({ name, here }: HostView): Html {
  return html`<a href="${filesAddress({ host: name })}">${hostName(name)}</a
    >${here ? html` <span class="muted">this one</span>` : ''}`;
}

function doesCell(host: HostView, now: number): Html {
  const { bytes_per_second: speed } = host;
  return html`${visibleText(hostWords(host, now))}${speed === null ? '' : `, ${rate(speed)}`}`;
}

/** Shows when each feed was published, and how many files are waiting for it. */
export function feedsPanel(
  feeds: readonly FeedView[],
  { daemon, now, mayChange }: Pick<PageWorld, 'daemon' | 'now' | 'mayChange'>,
): Html | '' {
  if (feeds.length === 0) return '';
  const list = table({
    label: 'Feeds',
    items: feeds,
    keyOf: ({ feed }) => feed,
    columns: [
      { heading: 'Feed', kind: 'main', cell: ({ feed }) => feedCell(feed, daemon.feedLinks) },
      {
        heading: 'Published',
        cell: ({ published_at: at }) =>
          at === null ? html`<span class="muted">not yet</span>` : momentAndSpan(at, now),
      },
      { heading: 'Next', cell: (feed) => html`${next(feed, now)} ${mayChange && publishButton(feed)}` },
    ],
  });
  return card({ title: 'Feeds', key: 'feeds', wide: list });
}

function publishButton({ feed, waiting }: FeedView): Html {
  return confirmed(`/feeds/publish${addressOf({ feed })}`, {
    first: html`Publish…${unseen(` ${feed}`)}`,
    question: `${counted(waiting, 'newer file')}, 1 request to the service.`,
    second: html`Publish now${unseen(` ${feed}`)}`,
    kind: 'plain',
  });
}

function feedCell(feed: string, feedLinks: Daemon['feedLinks']): Html {
  const url = feedLinks.find(feed);
  return html`<a href="${filesAddress({ feed })}">${named(feed)}</a>
    ${url === null ? '' : html`<span class="muted">·</span> ${outside(url, 'open the feed')}`}`;
}

function next({ waiting, next_at: at, failure }: FeedView, now: number): Html | string {
  if (failure !== null)
    return html`${badge('bad', 'failed')}
    ${visibleText(failure)}${at === null ? '' : html`; again at ${moment(at, now)}`}`;
  if (waiting === 0) return '';
  const latest = at === null || at < now ? '' : html`, by ${moment(at, now)}`;
  return html`${counted(waiting, 'newer file')}${latest}`;
}
