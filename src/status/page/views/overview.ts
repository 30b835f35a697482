import { badge, counted, emptyState, visibleText } from '@dropcast/pages';
import type { BadgeKind, Html, View } from '@dropcast/pages';
import { html } from 'hono/html';
import { rate } from '../../../view/words/amounts.ts';
import { limitSentence } from '../../../view/outlook/limit-words.ts';
import type { LivePicture, Sentence } from '../../../view/picture/picture.ts';
import { channelsToChoose } from '../files/channels.ts';
import { moment } from '../moment.ts';
import type { PageEvent, PageWorld } from '../world.ts';
import { budgetPanel } from './overview/budget.ts';
import { expectedPanel } from './overview/expected.ts';
import { dayPanel } from './overview/day.ts';
import { feedsPanel } from './overview/feeds.ts';
import { hostsPanel } from './overview/hosts.ts';
import { needsYouPanel } from './overview/needs-you.ts';
import { nowPanel } from './overview/now.ts';
import { stageStrip } from './overview/stage-strip.ts';
import { troublePanel } from './overview/trouble.ts';

/** How everything is, in one sentence; then where files are, what needs somebody, and what happens now. */
export async function overview({ daemon, now, mayChange }: PageWorld): Promise<View<PageEvent>> {
  const view = await daemon.picture();
  const channels = mayChange && isAskedFor(view) ? await channelsToChoose(daemon) : mayChange ? [] : null;
  return {
    title: 'Overview',
    section: '/',
    changesWith: [
      'arrival',
      'file',
      'failure',
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
      <div class="pair">${budgetPanel(view.budget, now)} ${feedsPanel(view.feeds, { now, links: daemon.links })}</div>
      ${dayPanel(view.day, now)} ${notes(view, now)}`,
  };
}

/** Whether a channel is to be chosen for some files. */
function isAskedFor({ needs_you: { causes } }: LivePicture): boolean {
  return causes.some(({ actions }) => actions.includes('send elsewhere'));
}

const KINDS: Readonly<Record<Sentence['level'], BadgeKind>> = {
  ok: 'good',
  busy: 'busy',
  attention: 'notice',
  stopped: 'bad',
};

const WORDS: Readonly<Record<Sentence['level'], string>> = {
  ok: 'All is well',
  busy: 'Working',
  attention: 'Needs attention',
  stopped: 'Stopped',
};

function sentence({ level, text }: Sentence): Html {
  return html`<p class="sentence" data-key="sentence" role="status">
    ${badge(KINDS[level], WORDS[level])} <span>${visibleText(text)}</span>
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
    'Nothing is on its way. Copy a video into a watched folder: it appears here a moment later, and says what it waits for.',
    folder === undefined ? undefined : `cp clip.mp4 ${visibleText(folder)}/`,
  );
}

/** What is worth a line, and no panel. */
function notes({ suspects, adoption, deletions, accounts, uploads, fleet }: LivePicture, now: number): Html | '' {
  const next = deletions.next_at === null ? '' : html`, the next after ${moment(deletions.next_at, now)}`;
  const limitOf = uploads?.bytes_per_second ?? null;
  const until = uploads === null || uploads.until === null ? '' : html` until ${moment(uploads.until, now)}`;
  const all = [
    limitOf !== null &&
      html`${fleet === null ? 'All uploads together' : 'The uploads of this host together'} may send
      ${rate(limitOf)}${until}.`,
    suspects > 0 &&
      html`${counted(suspects, 'record')} on the service may be empty: <code>dropcast suspects</code> lists them.`,
    adoption.files > 0 &&
      html`${counted(adoption.files, 'file was', 'files were')} there before: <code>dropcast adopt</code> says which the
        service has.`,
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
