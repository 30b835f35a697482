import { html } from 'hono/html';
import { clockTime } from '../daemon/clock-time.ts';
import { limitSentence } from '../daemon/limit-words.ts';
import type { FileView } from '../daemon/file-view.ts';
import { progressWords } from '../daemon/progress-words.ts';
import { rate } from '../daemon/amounts.ts';
import type { StatusView } from '../daemon/view.ts';
import { countLine } from './count-line.ts';

/** Time between two refreshes of an open page, seconds. */
const refreshSeconds = 2;

/** The page: refreshes itself, needs no script; every text in it is escaped. */
export function renderPage(view: StatusView): ReturnType<typeof html> {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="refresh" content="${refreshSeconds}" />
        <title>dropcast</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <h1>dropcast</h1>
        <p>${countLine(view)}</p>
        ${view.waiting === null ? '' : html`<p class="warn">Waiting: ${view.waiting.why}</p>`}
        ${view.creates_wait_until === null ? '' : html`<p class="warn">New files wait until ${time(view.creates_wait_until)}: too many create requests had no usable answer</p>`}
        ${view.suspects === 0 ? '' : html`<p>Records that may be empty on the service: ${view.suspects} (<code>dropcast suspects</code> lists them)</p>`}
        ${view.requests === null ? '' : html`<p>${view.requests.used} of ${view.requests.limit} API requests used in the last hour${view.requests.others === 0 ? '' : `; others use about ${view.requests.others} an hour of this key`}</p>`}
        ${view.outlook === null ? '' : outlookLine(view.outlook)}
        ${view.uploads === null ? '' : uploadLines(view.uploads)}
        ${view.adoption.files === 0 ? '' : html`<p>Files that were there before: ${view.adoption.files} (<code>dropcast adopt</code> says which of them the service has)</p>`}
        ${view.deletions.files === 0 ? '' : html`<p>Local files that will be deleted later: ${view.deletions.files}${view.deletions.next_at === null ? '' : `, the next after ${time(view.deletions.next_at)}`}</p>`}
        ${view.accounts.unaccounted === 0 ? '' : html`<p class="warn">Files that are in no state: ${view.accounts.unaccounted}. This is an error of dropcast: please report it.</p>`}
        <ul>
          ${view.folders.map(({ path, state, why }) => html`<li>${path}: ${state}${why === null ? '' : `, ${why}`}</li>`)}
        </ul>
        ${table('Under way', view.working)} ${table('Needs you', view.needs_you)}
      </body>
    </html>`;
}

/** Leads on to the page: the browser has its cookie now. */
export function renderEntrance(): ReturnType<typeof html> {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="refresh" content="0; url=/" />
        <title>dropcast</title>
      </head>
      <body>
        <p><a href="/">Status of dropcast</a></p>
      </body>
    </html>`;
}

function outlookLine(outlook: NonNullable<StatusView['outlook']>): ReturnType<typeof html> | '' {
  const sentence = limitSentence(outlook);
  const done = outlook.done_at === null ? '' : `. Done at about ${time(outlook.done_at)}`;
  return sentence === null ? '' : html`<p>${sentence}${done}</p>`;
}

function uploadLines({
  bytes_per_second: limit,
  until,
  start_at: startAt,
}: NonNullable<StatusView['uploads']>): ReturnType<typeof html> {
  const allowed = limit === null ? 'unlimited' : rate(limit);
  return html`${startAt === null ? '' : html`<p class="warn">Uploads start at ${time(startAt)}</p>`}
  ${limit === null && until === null ? '' : html`<p>Limit of all uploads together: ${allowed}${until === null ? '' : ` until ${time(until)}`}</p>`}`;
}

function time(atMs: number): string {
  return clockTime(atMs, Date.now());
}

function table(title: string, files: readonly FileView[]): ReturnType<typeof html> | '' {
  if (files.length === 0) return '';
  return html`<h2>${title}</h2>
    <table>
      <tr>
        <th>File</th>
        <th>State</th>
        <th>Channel</th>
        <th>Why</th>
      </tr>
      ${files.map(row)}
    </table>`;
}

function row(file: FileView): ReturnType<typeof html> {
  const { path, state, sent, size, channel, why } = file;
  const words = [why, progressWords(file, Date.now())].filter((each) => each !== null);
  return html`<tr>
    <td>${path}</td>
    <td>${state}${state === 'uploading' && size > 0 ? ` ${Math.floor((100 * (sent ?? 0)) / size)} %` : ''}</td>
    <td>${channel ?? ''}</td>
    <td>${words.join('; ')}</td>
  </tr>`;
}

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }
.warn { background: #fff3cd; padding: .5rem 1rem; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c; } th, td { border-color: #444; } .warn { background: #5c4a00; } }
`;
