import { badge, counted, grouped, named, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { CauseView, NeedsYou } from '../../../../daemon/overview/needs-you.ts';
import { moment } from '../../moment.ts';

/** Files that only a person can settle: a line for each cause, however many files have it. */
export function needsYouPanel({ files, causes, more }: NeedsYou, now: number): Html | '' {
  if (files === 0) return '';
  return html`<section class="card" data-key="needs-you" aria-labelledby="needs-you">
    <div class="head">
      <h2 id="needs-you">Needs you</h2>
      <span class="muted">${counted(files, 'file')}</span>
    </div>
    <ul class="causes">
      ${causes.map((cause) => html`<li data-key="cause-${cause.key}">${one(cause, now)}</li>`)}
    </ul>
    ${
      more.causes === 0
        ? ''
        : html`<p class="body">
            <a href="/files?state=failed,held"
              >And ${counted(more.files, 'file')} for ${counted(more.causes, 'other reason')}</a
            >
          </p>`
    }
  </section>`;
}

function one({ key, title, next, files, since, examples }: CauseView, now: number): Html {
  const address = `/files?${new URLSearchParams({ cause: key }).toString()}`;
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
