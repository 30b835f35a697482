import { named, table, visibleText, type Html, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import { rate } from '../../../daemon/amounts.ts';
import { clockTime } from '../../../daemon/clock-time.ts';
import type { FileView } from '../../../daemon/file-view.ts';
import { limitSentence } from '../../../daemon/limit-words.ts';
import { progressWords } from '../../../daemon/progress-words.ts';
import type { StatusView } from '../../../daemon/view.ts';
import { countLine } from '../../count-line.ts';
import type { PageEvent, PageWorld } from '../world.ts';

/** What happens now. */
export async function overview({ status, now }: PageWorld): Promise<View<PageEvent>> {
  const view = await status();
  return {
    title: 'Overview',
    section: '/',
    changesWith: ['arrival', 'file', 'failure', 'feed', 'paused', 'resumed', 'folder', 'command', 'progress'],
    body: html`<p>${countLine(view)}</p>
      ${lines(view, now)} ${files('Under way', view.working, now)} ${files('Needs you', view.needs_you, now)}`,
  };
}

function lines(view: StatusView, now: number): Html {
  const time = (atMs: number): string => clockTime(atMs, now);
  return html`${view.waiting === null ? '' : html`<p class="warn">Waiting: ${view.waiting.why}</p>`}
  ${view.creates_wait_until === null ? '' : html`<p class="warn">New files wait until ${time(view.creates_wait_until)}: too many create requests had no usable answer</p>`}
  ${view.suspects === 0 ? '' : html`<p>Records that may be empty on the service: ${view.suspects} (<code>dropcast suspects</code> lists them)</p>`}
  ${view.requests === null ? '' : html`<p>${view.requests.used} of ${view.requests.limit} API requests used in the last hour${view.requests.others === 0 ? '' : `; others use about ${view.requests.others} an hour of this key`}</p>`}
  ${view.outlook === null ? '' : outlookLine(view.outlook, time)}
  ${view.uploads === null ? '' : uploadLines(view.uploads, time)}
  ${view.adoption.files === 0 ? '' : html`<p>Files that were there before: ${view.adoption.files} (<code>dropcast adopt</code> says which of them the service has)</p>`}
  ${view.deletions.files === 0 ? '' : html`<p>Local files that will be deleted later: ${view.deletions.files}${view.deletions.next_at === null ? '' : `, the next after ${time(view.deletions.next_at)}`}</p>`}
  ${view.accounts.unaccounted === 0 ? '' : html`<p class="warn">Files that are in no state: ${view.accounts.unaccounted}. This is an error of dropcast: please report it.</p>`}`;
}

type Time = (atMs: number) => string;

function outlookLine(outlook: NonNullable<StatusView['outlook']>, time: Time): Html | '' {
  const sentence = limitSentence(outlook);
  const done = outlook.done_at === null ? '' : `. Done at about ${time(outlook.done_at)}`;
  return sentence === null ? '' : html`<p>${sentence}${done}</p>`;
}

function uploadLines(
  { bytes_per_second: limit, until, start_at: startAt }: NonNullable<StatusView['uploads']>,
  time: Time,
): Html {
  const allowed = limit === null ? 'unlimited' : rate(limit);
  return html`${startAt === null ? '' : html`<p class="warn">Uploads start at ${time(startAt)}</p>`}
  ${limit === null && until === null ? '' : html`<p>Limit of all uploads together: ${allowed}${until === null ? '' : ` until ${time(until)}`}</p>`}`;
}

function files(title: string, found: readonly FileView[], now: number): Html | '' {
  if (found.length === 0) return '';
  return html`<section class="card">
    <div class="head"><h2>${title}</h2></div>
    ${table({
      label: title,
      items: found,
      keyOf: ({ id }) => id,
      columns: [
        { heading: 'File', kind: 'main', cell: ({ path }) => named(path) },
        { heading: 'State', cell: stateWords },
        { heading: 'Channel', kind: 'minor', cell: ({ channel }) => channel ?? '' },
        {
          heading: 'Why',
          cell: (file) => visibleText([file.why, progressWords(file, now)].filter((each) => each !== null).join('; ')),
        },
      ],
    })}
  </section>`;
}

function stateWords({ state, sent, size }: FileView): string {
  return `${state}${state === 'uploading' && size > 0 ? ` ${Math.floor((100 * (sent ?? 0)) / size)} %` : ''}`;
}
