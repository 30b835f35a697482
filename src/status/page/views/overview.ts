import {
  badge,
  barChart,
  card,
  counted,
  emptyState,
  fileSize,
  grouped,
  named,
  span,
  time,
  visibleText,
  type BadgeKind,
  type Html,
  type View,
} from '@dropcast/pages';
import { html } from 'hono/html';
import type { ExpectationView } from '../../../pipeline/expectation.ts';
import { allowedWords, limitSentence } from '../../../view/outlook.ts';
import type { BudgetView, DayView, LivePicture, Picture, Sentence, StageView } from '../../../view/picture/picture.ts';
import { stageWord } from '../../../view/stages.ts';
import { whyWords } from '../../../view/waits.ts';
import { capitalised, rate, clockTime } from '../../../view/words/text.ts';
import { deafWords, expectationWords } from '../../../view/words/picture-words.ts';
import { filesAddress, channelsToChoose, moment } from '../elements.ts';
import type { PageEvent, PageWorld } from '../world.ts';
import { feedsPanel, hostsPanel, needsYouPanel, nowPanel } from './overview-panels.ts';

/** Shows one sentence on the overall state, then where files are, what needs a person, and what is in progress. */
export async function overview({ daemon, picture, now, mayChange }: PageWorld): Promise<View<PageEvent>> {
  const view = await picture();
  const channels = mayChange && isAskedFor(view) ? await channelsToChoose(daemon) : mayChange ? [] : null;
  return {
    title: 'Overview',
    section: '/',
    changesWith: [
      'arrival',
      'file',
      'failure',
      'late',
      'feed',
      'paused',
      'resumed',
      'folder',
      'name',
      'operator-pause',
      'news',
      'command',
      'reload',
      'progress',
    ],
    body: html`${sentence(view.sentence)} ${troublePanel(view, now)} ${stageStrip(view, now)} ${limit(view, now)}
      ${isNew(view) ? firstSteps(daemon.config().folders[0]?.path) : ''} ${expectedPanel(view, now)}
      ${needsYouPanel(view.needs_you, { now, channels })} ${nowPanel(view.now, now)} ${hostsPanel(view.fleet, now)}
      <div class="pair">${budgetPanel(view.budget, now)} ${feedsPanel(view.feeds, { daemon, now, mayChange })}</div>
      ${dayPanel(view.day, now)} ${notes(view, now)}`,
  };
}

function isAskedFor({ needs_you: { causes } }: LivePicture): boolean {
  return causes.some(({ actions }) => actions.includes('send elsewhere'));
}

const LEVELS: Readonly<Record<Sentence['level'], readonly [BadgeKind, string]>> = {
  ok: ['good', 'All is well'],
  busy: ['busy', 'Working'],
  attention: ['notice', 'Needs attention'],
  stopped: ['bad', 'Stopped'],
};

function sentence({ level, text }: Sentence): Html {
  return html`<p class="sentence" data-key="sentence" role="status">
    ${badge(...LEVELS[level])} <span>${visibleText(text)}</span>
  </p>`;
}

function limit({ outlook, stages }: LivePicture, now: number): Html | '' {
  const words = stages.some(({ bottleneck }) => bottleneck !== null) ? limitSentence(outlook) : null;
  if (words === null || outlook.limited_by === 'pause') return '';
  const done = outlook.done_at === null ? '' : html` All done at about ${moment(outlook.done_at, now)}.`;
  return html`<p class="muted" data-key="limit">${visibleText(words)}.${done}</p>`;
}

function isNew({ stages, needs_you: needsYou, retrying }: LivePicture): boolean {
  return stages.every(({ files }) => files === 0) && needsYou.files + retrying.files === 0;
}

function firstSteps(folder: string | undefined): Html {
  return emptyState(
    'Nothing is on its way. Copy a video into a watched folder: it appears here a moment later, with the reason for any wait.',
    folder === undefined ? undefined : `cp clip.mp4 ${visibleText(folder)}/`,
  );
}

/** Lists facts that deserve only a line, not a panel. */
function notes({ suspects, adoption, deletions, accounts, uploads, fleet }: LivePicture, now: number): Html | '' {
  const next = deletions.next_at === null ? '' : html`, the next after ${moment(deletions.next_at, now)}`;
  const limitOf = uploads?.bytes_per_second ?? null;
  const until = uploads === null || uploads.until === null ? '' : html` until ${moment(uploads.until, now)}`;
  const all = [
    limitOf !== null && html`Combined upload limit${fleet === null ? '' : ' on this host'}: ${rate(limitOf)}${until}.`,
    suspects > 0 &&
      html`${counted(suspects, 'record')} on the service may be empty: <code>dropcast suspects</code> lists them.`,
    adoption.files > 0 &&
      html`${counted(adoption.files, 'file was', 'files were')} there before: <code>dropcast adopt</code> shows which of
        them the service has.`,
    deletions.files > 0 && html`${counted(deletions.files, 'local file')} will be deleted later${next}.`,
    accounts.unaccounted !== 0 &&
      html`${counted(accounts.unaccounted, 'file is', 'files are')} in no state. This is a bug in dropcast: please
      report it.`,
  ].filter((each) => each !== false);
  if (all.length === 0) return '';
  return html`<ul class="notes" data-key="notes">
    ${all.map((each) => html`<li>${each}</li>`)}
  </ul>`;
}

/** Shows the last hour's requests: how many, by whom, and when more are available. */
function budgetPanel({ used, limit, others, blocked_until: blocked, reported, frees }: BudgetView, now: number): Html {
  const all = Math.min(limit, used + others);
  const width = (part: number): string => String(Math.round((1_000 * Math.min(part, limit)) / Math.max(1, limit)) / 10);
  const [first] = frees;
  const said = `${grouped(all)} of ${grouped(limit)} requests of an hour are used`;
  return card({
    title: 'API requests',
    key: 'budget',
    body: html`<svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${said}">
        <rect class="rest" width="100" height="8" />
        <rect class="others" width="${width(all)}" height="8" />
        <rect class="own" width="${width(used)}" height="8" />
      </svg>
      <p>
        <strong>${grouped(used)}</strong> of ${grouped(limit)} used in the last
        hour${others === 0 ? '' : `; others use about ${grouped(others)}`}.
      </p>
      ${reported && html`<p>${capitalised(allowedWords(reported, now))}.</p>`}
      ${blocked !== null && html`<p class="warn">Rate limited until ${moment(blocked, now)}.</p>`}
      ${first && used > 0 && html`<p class="muted">${grouped(first.requests)} free again at ${moment(first.at, now)}.</p>`}`,
  });
}

function dayPanel({ slots, done, failed, bytes }: DayView, now: number): Html | '' {
  if (done + failed === 0) return '';
  const bars = slots.map((slot) => ({
    name: clockTime(slot.at, now),
    count: slot.done + slot.failed,
    failed: slot.failed,
  }));
  const wrong = failed === 0 ? '' : `; ${counted(failed, 'file')} failed or held`;
  return card({
    title: 'Last 24 hours',
    key: 'day',
    aside: html`<span class="muted">${counted(done, 'file')} live, ${fileSize(bytes)}${wrong}</span>`,
    body: barChart(bars, {
      label: 'Files per half hour',
      per: 'Half hour',
      unit: 'file',
      short: (name) => name.slice(-5),
    }),
  });
}

function expectedPanel({ expectations }: Pick<Picture, 'expectations'>, now: number): Html | '' {
  if (expectations.length === 0) return '';
  const line = (each: ExpectationView): Html =>
    html`<li data-key="expected-${each.key}">
      ${badge(BADGES[each.state], each.state)} <code>${visibleText(each.match)}</code> in
      <a href="${filesAddress({ folder: each.folder })}">${named(each.folder)}</a>: ${expectationWords(each, now)}
    </li>`;
  return card({
    title: 'Expected',
    key: 'expected',
    landmark: 'Expected',
    wide: html`<ul class="causes">
      ${expectations.map(line)}
    </ul>`,
  });
}

const BADGES: Readonly<Record<ExpectationView['state'], BadgeKind>> = {
  expected: 'waiting',
  arrived: 'busy',
  live: 'good',
  missing: 'bad',
  late: 'bad',
  recovered: 'good',
};

/**
 * Shows how many files are in each stage, with links to them. The bottleneck is marked, and a line below explains it.
 */
function stageStrip({ stages, retrying }: Picture, now: number): Html {
  return html`<nav class="stages" aria-label="Stages" data-key="stages">
      <ol>
        ${stages.map((stage) => html`<li data-key="stage-${stage.name}">${link(stage, now)}</li>`)}
      </ol>
    </nav>
    ${retrying.files === 0 ? '' : retryLine(retrying, now)}`;
}

function retryLine({ files, next_at: next }: Picture['retrying'], now: number): Html {
  const when = next === null || next < now ? '' : html`, the next at ${moment(next, now)}`;
  return html`<p class="muted" data-key="retrying">
    ${grouped(files)} of them ${files === 1 ? 'waits' : 'wait'} for a retry${when}.
  </p>`;
}

function link(stage: StageView, now: number): Html {
  const { name, files, retrying, last_hour: lastHour, oldest_since: since, bottleneck } = stage;
  const word = stageWord(name);
  return html`<a href="/files?state=${word}" class="${bottleneck === null ? 'stage' : 'stage slow'}">
    <span class="name">${word}</span>
    <strong>${grouped(files + retrying)}</strong>
    <span class="muted">${word === 'done' ? 'in 24 h' : since === null ? '' : html`oldest ${ago(since, now)}`}</span>
    <span class="muted">${grouped(lastHour)} last hour</span>
    ${bottleneck === null ? '' : html`<span title="${visibleText(bottleneck)}">${badge('notice', 'slowest')}</span>`}
  </a>`;
}

function ago(at: number, now: number): Html {
  return time(at, span(Math.max(1_000, Math.round((now - at) / 1_000) * 1_000)));
}

/** Shows waits, folders that are frozen or being scanned, and notification targets that reject messages. */
export function troublePanel(
  { waits, folders, deaf_targets: targets }: Pick<Picture, 'waits' | 'folders' | 'deaf_targets'>,
  now: number,
): Html | '' {
  const lines = [
    ...waits
      .filter(({ cause }) => cause !== 'database')
      .map((wait) => {
        const isFolder = wait.cause === 'folder';
        const what = isFolder ? html`<a href="/folders">${named(wait.what)}</a>` : named(wait.what);
        const why = visibleText(whyWords(wait, now));
        return html`${badge(isFolder ? 'bad' : 'off', 'waits')} <strong>${what}</strong>: ${why}`;
      }),
    ...folders
      .filter(({ state }) => state === 'scanning')
      .map(({ path, state }) => html`${badge('notice', state)} <a href="/folders">${named(path)}</a>`),
    ...targets.map(
      (each) =>
        html`${badge('notice', 'not notified')} ${visibleText(deafWords(each, now))}.
          <code>dropcast notify test</code> tries it now.`,
    ),
  ];
  if (lines.length === 0) return '';
  return html`<section class="card" data-key="trouble">
    <ul class="causes">
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>
  </section>`;
}
