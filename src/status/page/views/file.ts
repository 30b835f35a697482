import { basename } from 'node:path/posix';
import { button, confirmed, named, visibleText } from '@dropcast/pages';
import type { Html, View } from '@dropcast/pages';
import { html } from 'hono/html';
import { reasonWords } from '../../../view/files/next-words.ts';
import { showAll } from '../../../view/files/show-view.ts';
import type { ShowView } from '../../../view/files/show-view.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { fileAddress } from '../files/address.ts';
import { attempts, historyList } from '../files/attempts.ts';
import { planFacts, whereFacts } from '../files/file-facts.ts';
import { kindIcon } from '../files/kind-icon.ts';
import { spanBars } from '../files/span-bars.ts';
import { stageBadge } from '../files/stage-badge.ts';
import { PageError } from '../world.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';

/** Everything about one file. @throws {PageError} 404 when no file has the id */
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
        ${whereFacts(file, facts, daemon.links)}
        ${planFacts(file, { config: daemon.config(), links: daemon.links }, now)}
      </div>
      ${historyList(history, now)} ${asJson(shown)}`,
  };
}

/** Of a file that has nothing before it. */
function endWords({ state, publish }: ShowView['file']): string {
  if (state === 'done')
    return publish.length === 0 ? 'The video is ready.' : `The video is live in ${publish.join(', ')}.`;
  return state === 'superseded' ? 'The file at its path has new content.' : '';
}

/** The file that came in its place, and the one that it is a copy of. */
async function relatives({ daemon }: PageWorld, facts: Facts): Promise<Html | ''> {
  const twin = facts.lastFailure?.twin;
  if (facts.end === 'skipped' && twin !== undefined)
    return html`<p>The same content as <a href="${fileAddress(twin)}">this file</a>, which was uploaded.</p>`;
  if (facts.end !== 'superseded' && facts.end !== 'vanished') return '';
  const [newest] = await daemon.ledger.find(`${facts.folder}/${facts.path}`);
  if (newest === undefined || newest.id === facts.id) return '';
  return html`<p><a href="${fileAddress(newest.id)}">A newer file</a> is at its path now.</p>`;
}

function buttons({ id, state, local, code }: ShowView['file']): Html {
  const isIgnored = state === 'skipped' && code === 'ignored';
  const isStanding =
    ['failed', 'held', 'retrying', 'skipped'].includes(state) || local === 'waiting' || local === 'refused';
  const isIgnorable = ['queued', 'awaiting upload', 'retrying', 'failed', 'held'].includes(state);
  const at = fileAddress(id);
  return html`<div class="row">
    ${isIgnored ? button(`${at}/unignore`, 'Stop ignoring it', 'main') : isStanding ? button(`${at}/retry`, 'Retry', 'main') : ''}
    ${
      isIgnorable
        ? confirmed(`${at}/ignore`, {
            first: 'Ignore',
            question: 'dropcast leaves this file alone until its content changes or you retry it.',
            second: 'Ignore this file',
          })
        : ''
    }
  </div>`;
}

function asJson(shown: ShowView): Html {
  return html`<details class="card fold" data-key="json">
    <summary>As JSON</summary>
    <button type="button" data-copy="file-json">Copy</button>
    <pre id="file-json" tabindex="0" role="region" aria-label="The file as JSON">${JSON.stringify(shown, null, 2)}</pre>
  </details>`;
}
