import { counted, grouped, named, select, visibleText, type Html, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import { readQuery } from '../../../view/files/query.ts';
import { whenSentMs } from '../../../view/outlook.ts';
import { channelsToChoose, filesAddress, queryOf, moment, hidden } from '../elements.ts';
import {
  bulkCommands,
  digestOf,
  leftWords,
  type BulkCommand,
  type BulkResult,
  type BulkWanted,
} from '../files/bulk-commands.ts';
import { PageError, type Asked, type PageEvent, type PageWorld } from '../world.ts';

/**
 * Asks for confirmation before a command on many files, stating their number, the cost and the completion time. @throws
 * {PageError}
 */
export async function many({ daemon, now, mayChange }: PageWorld, { query }: Asked): Promise<View<PageEvent>> {
  const { command, wanted } = manyOf(query, now);
  const back = html`<p><a href="${filesAddress(queryOf(query))}">Back to the files</a></p>`;
  if (command.needsChannel === true && wanted.channel === '')
    return askChannel(command, await channelsToChoose(daemon), query);
  const planned = await command.run(daemon, wanted, { isPlanned: true });
  const { files, requests, refused, left = [] } = planned;
  const title = `${command.label}: ${counted(files, 'file')}`;
  return {
    title,
    section: '/files',
    changesWith: [],
    body: html`<section class="card">
      <div class="body">
        <p>${command.deed}</p>
        ${wanted.channel === '' ? '' : html`<p>To channel ${named(wanted.channel)}.</p>`}
        <p>
          <strong>${counted(files, 'file')}</strong>, ${requests === 0 ? '' : 'at most '}${counted(requests, 'request')}
          to the service. ${budgetWords(requests, { daemon, now })}
        </p>
        ${left.map((some) => html`<p class="muted">${leftWords(some)}</p>`)}
        ${refused.slice(0, mostRefused).map(({ name, why }) => html`<p class="muted">${visibleText(`${name}: ${why}`)}</p>`)}
        ${wasWords(query.get('was'), files)} ${mayChange && files > 0 ? form(title, planned) : ''} ${back}
      </div>
    </section>`,
  };
}

const mostRefused = 20;

function askChannel(command: BulkCommand, channels: readonly string[], query: URLSearchParams): View<PageEvent> {
  return {
    title: command.label,
    section: '/files',
    changesWith: [],
    body: html`<section class="card">
      <form method="get" action="/files/many" class="body">
        ${hidden([...query].filter(([word]) => word !== 'to'))}
        <p>${command.deed}</p>
        ${select('to', 'Channel', '', channels)}
        <div class="row"><button class="main">Show what it costs</button></div>
      </form>
    </section>`,
  };
}

/** Reads the command and its files from a form of this page. @throws {PageError} 400 */
export function manyOf(
  asked: URLSearchParams,
  now: number,
): {
  readonly command: BulkCommand;
  readonly wanted: BulkWanted;
} {
  const command = bulkCommands.find(({ name }) => name === asked.get('do'));
  if (command === undefined) throw new PageError(400, 'Choose what to do with the files.');
  const { selection, problems } = readQuery(queryOf(asked), now);
  if (problems.length > 0) throw new PageError(400, problems.join('; '));
  const ids = asked.getAll('id');
  const isAll = asked.get('which') === 'all';
  if (!isAll && ids.length === 0) throw new PageError(400, 'Select files, or choose all that match.');
  return { command, wanted: { selection: isAll ? selection : { ids }, channel: asked.get('to') ?? '' } };
}

/** The form has no `action`, so it posts to this view's address, which identifies the files. */
function form(label: string, planned: BulkResult): Html {
  return html`<form method="post">
    ${hidden([
      ['files', String(planned.files)],
      ['these', digestOf(planned)],
    ])}
    <button class="main">${label}</button>
  </form>`;
}

/** Explains that the confirmation was for different files than are selected now. */
function wasWords(was: string | null, files: number): Html | '' {
  if (was === null || !/^\d{1,9}$/.test(was)) return '';
  const why =
    Number(was) === files
      ? 'the selection contained other files when you were asked'
      : `it concerned ${counted(Number(was), 'file')} when you were asked, and concerns ${counted(files, 'file')} now`;
  return html`<p class="warn" role="alert">Nothing was done: ${why}.</p>`;
}

function budgetWords(requests: number, { daemon, now }: Pick<PageWorld, 'daemon' | 'now'>): Html | string {
  if (requests === 0) return '';
  const inMs = whenSentMs(daemon, requests);
  const { used, limit } = daemon.gate.snapshot();
  const budget = `${grouped(used)} of ${grouped(limit)} requests are used this hour`;
  return inMs < 1_000
    ? `${budget}; those for this command can be sent immediately.`
    : html`${budget}; the last request for this command will be sent at about ${moment(now + inMs, now)}.`;
}
