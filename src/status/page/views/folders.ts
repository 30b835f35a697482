import {
  addressOf,
  badge,
  button,
  card,
  confirmed,
  counted,
  emptyState,
  facts,
  grouped,
  named,
  span,
  table,
  unseen,
  visibleText,
  type BadgeKind,
  type Html,
  type View,
} from '@dropcast/pages';
import { html } from 'hono/html';
import { wholeSentence } from '../../../view/words/text.ts';
import { pauseWords } from '../../../view/waits.ts';
import type { FolderStatus } from '../../../intake/folder-status.ts';
import { operatorCommand } from '../../../read-permission.ts';
import { countsAsRead, stagesAndEnds } from '../../../view/stages.ts';
import { momentAndSpan, filesAddress, hidden } from '../elements.ts';
import type { PageEvent, PageWorld } from '../world.ts';

/** Shows how each folder is watched, what it contains, and what is left alone and why. */
export function folders(world: PageWorld): View<PageEvent> {
  const { daemon } = world;
  const all = daemon.folders.status();
  return {
    title: 'Folders',
    section: '/folders',
    changesWith: ['arrival', 'file', 'folder', 'operator-pause', 'command', 'reload'],
    aside: html`<span class="muted">${counted(all.length, 'folder')}</span> <a href="/audit">Audit</a>`,
    body: html`${pausedAll(world)} ${all.map((folder) => folderCard(folder, world))}`,
  };
}

function pausedAll({ daemon, now }: PageWorld): Html | '' {
  const pause = daemon.pauses.all();
  if (pause === null) return '';
  return html`<p class="warn" data-key="paused">
    Everything is ${visibleText(pauseWords(pause, now))}. <code>${operatorCommand('dropcast resume --all')}</code> ends
    that.
  </p>`;
}

function folderCard(folder: FolderStatus, { daemon, now, mayChange }: PageWorld): Html {
  const { path, state, why } = folder;
  const pause = daemon.pauses.list().find((each) => each.folder === path) ?? null;
  const resume = button(`/folders/resume${addressOf({ folder: path })}`, html`Resume${unseen(` ${path}`)}`);
  return card({
    title: named(path),
    id: path,
    key: `folder-${path}`,
    aside: html`<div class="row middle">
      ${pause && badge('notice', 'paused')} ${badge(...BADGES[state])}
      ${mayChange && (pause === null ? pauseForm(path) : resume)}
    </div>`,
    body: html`${pause && html`<p class="why">Its files wait: ${visibleText(pauseWords(pause, now))}.</p>`}
    ${why !== null && html`<p class="${state === 'frozen' ? 'warn' : 'why'}">${visibleText(wholeSentence(why))}</p>`}
    ${mayChange && pause === null && acceptForm(folder, daemon)} ${facts(factsOf(folder, now))} ${inside(folder)}`,
    wide: refused(folder),
  });
}

/** Pauses a folder: running work finishes, but nothing new starts. */
function pauseForm(folder: string): Html {
  return html`<form method="post" action="/folders/pause${addressOf({ folder })}" class="row middle until">
    <label
      >until <input name="until" size="10" maxlength="20" placeholder="18:00 or 2h" autocomplete="off" data-keep
    /></label>
    <button>Pause${unseen(` ${folder}`)}</button>
  </form>`;
}

/** Asks for the statement that ends a freeze. If something else holds by then, nothing is done. */
function acceptForm({ path, accounts }: FolderStatus, { folders }: Pick<PageWorld['daemon'], 'folders'>): Html | '' {
  const claim = folders.frozenFolders().find((each) => each.path === path)?.claim;
  if (claim === undefined) return '';
  const known = Object.values(accounts.known).reduce((sum, files) => sum + files, 0);
  return confirmed(`/folders/accept${addressOf({ folder: path })}`, {
    first: 'Resume…',
    question: `You state: ${visibleText(claim)}. dropcast knows ${counted(known, 'file')} in it.`,
    second: html`Resume as stated${unseen(` ${path}`)}`,
    fields: hidden([['claim', claim]]),
  });
}

const BADGES: Readonly<Record<FolderStatus['state'], readonly [BadgeKind, string]>> = {
  starting: ['busy', 'first scan'],
  watching: ['good', 'watching'],
  scanning: ['notice', 'scans only'],
  frozen: ['bad', 'frozen'],
};

const BY: Readonly<Record<FolderStatus['by'], string>> = {
  events: 'events, and an occasional scan',
  'events and scans': 'events and frequent scans',
  scans: 'scans only',
};

type Fact = readonly [string, Html | string | null];

function factsOf(folder: FolderStatus, now: number): readonly Fact[] {
  const { by, done_marker: marker, without_marker: lacking } = folder;
  const at = (moment: number | null, otherwise: string | null) =>
    moment === null ? otherwise : momentAndSpan(moment, now);
  const took = folder.last_scan_ms === null ? '' : `, took ${span(folder.last_scan_ms)}`;
  return [
    ['Found by', BY[by]],
    ['Last event', at(folder.last_event_at, by === 'scans' ? null : 'none since the start')],
    ['Last scan', folder.last_scan_at === null ? 'none yet' : html`${momentAndSpan(folder.last_scan_at, now)}${took}`],
    ['Next scan', folder.is_scanning ? 'under way' : at(folder.next_scan_at, null)],
    ['Done marker', marker === null ? null : html`<code>${visibleText(marker)}</code>`],
    ['Without their marker', marker === null ? null : counted(lacking, 'file')],
  ];
}

/** Lists how many of a folder's paths are in each category. Every path is in exactly one. */
function inside({ path, accounts }: FolderStatus): Html {
  const { seen, settling, comparing, known, sidecars, ignored, refused: refusedCount, unaccounted } = accounts;
  const stages = countsAsRead(known).toSorted(([, one], [, other]) => other - one);
  const counts: readonly (readonly [name: string, count: number, link?: string])[] = [
    ['settling', settling],
    ['being compared', comparing],
    ...stages.map(([word, count]) => [word, count, filesIn(path, word)] as const),
    ['sidecars', sidecars],
    ['ignored', ignored],
    ['refused', refusedCount],
    ['in no state', unaccounted],
  ];
  return html`<div>
    <p class="muted">${counted(seen, 'path')} in it</p>
    <ul class="counts">
      ${counts
        .filter(([, count]) => count > 0)
        .map(([name, count, link]) => {
          const words = html`<strong>${grouped(count)}</strong> ${name}`;
          return html`<li>${link === undefined ? words : html`<a href="${link}">${words}</a>`}</li>`;
        })}
    </ul>
  </div>`;
}

function filesIn(folder: string, word: string): string {
  const state = stagesAndEnds.some((stage) => stage === word) ? word : 'retrying';
  return filesAddress({ folder, state });
}

function refused({ accounts, refused_paths: paths }: FolderStatus): Html | '' {
  if (paths.length === 0) return '';
  const rest = accounts.refused - paths.length;
  return html`<details class="refused">
    <summary>${counted(accounts.refused, 'path')} left alone</summary>
    ${table({
      label: 'Paths left alone',
      items: paths,
      keyOf: ({ path }) => path,
      columns: [
        { heading: 'Path', kind: 'main', cell: ({ path }) => named(path) },
        { heading: 'Why', cell: ({ why }) => visibleText(why) },
      ],
    })}
    ${rest > 0 ? emptyState(`${grouped(rest)} more are not listed. The log names the first of them after each scan.`) : ''}
  </details>`;
}
