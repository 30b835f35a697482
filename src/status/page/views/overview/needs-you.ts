import { badge, counted, grouped, named, select, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { CauseView, NeedsYou } from '../../../../view/picture/needs-you.ts';
import { needsYou } from '../../../../view/files/query.ts';
import { bulkCommands } from '../../files/bulk-commands.ts';
import { moment } from '../../moment.ts';

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
  return html`<section class="card" data-key="needs-you" aria-labelledby="needs-you">
    <div class="head">
      <h2 id="needs-you">Needs you</h2>
      <span class="muted">${counted(files, 'file')}</span>
    </div>
    <ul class="causes">
      ${causes.map((cause) => html`<li data-key="cause-${cause.key}">${one(cause, now)} ${channels === null ? '' : deeds(cause, channels)}</li>`)}
    </ul>
    ${
      more.causes === 0
        ? ''
        : html`<p class="body">
            <a href="/files?state=${needsYou}"
              >And ${counted(more.files, 'file')} for ${counted(more.causes, 'other reason')}</a
            >
          </p>`
    }
  </section>`;
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
            <a href="/files/${encodeURIComponent(id)}">${named(path)}</a
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
  const words = [['do', 'send elsewhere'], ['which', 'all'], ...selectionOf(key)];
  return html`<form method="get" action="/files/many">
    ${words.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${select(
      'to',
      `Send ${which} to`,
      undefined,
      channels.map((value) => ({ value, label: value })),
    )}
    <button>Send…</button>
  </form>`;
}

/** Limited to files that need a person: files waiting for a retry may have the same cause. */
function selectionOf(cause: string): URLSearchParams {
  return new URLSearchParams({ state: needsYou, cause });
}
