import { badge, named, visibleText } from '@dropcast/pages';
import type { BadgeKind, Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { expectationWords } from '../../../../view/words/expectation-words.ts';
import type { ExpectationView } from '../../../../pipeline/expectation.ts';
import type { Picture } from '../../../../view/picture/picture.ts';
import { filesAddress } from '../../files/address.ts';

/** What folders expect of today, and what has come of it. */
export function expectedPanel({ expectations }: Pick<Picture, 'expectations'>, now: number): Html | '' {
  if (expectations.length === 0) return '';
  return html`<section class="card" data-key="expected" aria-labelledby="expected">
    <div class="head"><h2 id="expected">Expected</h2></div>
    <ul class="causes">
      ${expectations.map(
        (each) =>
          html`<li data-key="expected-${each.key}">
            ${badge(BADGES[each.state], each.state)} <code>${visibleText(each.match)}</code> in
            <a href="${filesAddress({ folder: each.folder })}">${named(each.folder)}</a>: ${expectationWords(each, now)}
          </li>`,
      )}
    </ul>
  </section>`;
}

const BADGES: Readonly<Record<ExpectationView['state'], BadgeKind>> = {
  expected: 'waiting',
  arrived: 'busy',
  live: 'good',
  missing: 'bad',
  late: 'bad',
  recovered: 'good',
};
