import { badge, named, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Picture } from '../../../../view/picture/picture.ts';
import { whyWords } from '../../../../view/waits.ts';
import { moment } from '../../moment.ts';

/** Panel of waits, folders that are not simply watched, and notification targets that take no messages. */
export function troublePanel(
  { waits, folders, deaf_targets: targets }: Pick<Picture, 'waits' | 'folders' | 'deaf_targets'>,
  now: number,
): Html | '' {
  const listed = waits.filter(({ cause }) => cause !== 'database');
  const others = folders.filter(({ state }) => state === 'scanning');
  if (listed.length + others.length + targets.length === 0) return '';
  return html`<section class="card" data-key="trouble">
    <ul class="causes">
      ${listed.map(
        (wait) =>
          html`<li>
            ${badge(wait.cause === 'folder' ? 'bad' : 'off', 'waits')}
            <strong
              >${wait.cause === 'folder' ? html`<a href="/folders">${named(wait.what)}</a>` : named(wait.what)}</strong
            >: ${visibleText(whyWords(wait, now))}
          </li>`,
      )}
      ${others.map(({ path, state }) => html`<li>${badge('notice', state)} <a href="/folders">${named(path)}</a></li>`)}
      ${targets.map(
        ({ name, why, since, waiting }) =>
          html`<li>
            ${badge('notice', 'not notified')} <strong>${named(name)}</strong> has accepted nothing since
            ${moment(since, now)}: ${visibleText(why)}. ${messagesWait(waiting)} <code>dropcast notify test</code> tries
            it now.
          </li>`,
      )}
    </ul>
  </section>`;
}

function messagesWait(waiting: number): string {
  if (waiting === 0) return '';
  return waiting === 1 ? '1 message waits.' : `${waiting} messages wait.`;
}
