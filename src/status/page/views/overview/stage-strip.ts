import { badge, grouped, span, time, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Picture, StageView } from '../../../../view/picture/picture.ts';
import { moment } from '../../moment.ts';

/** Where all files are on their way. Each stage leads to its files; the one where they wait most is marked, and the line below says why. */
export function stageStrip({ stages, retrying }: Picture, now: number): Html {
  return html`<nav class="stages" aria-label="Stages" data-key="stages">
    <ol>
      ${stages.map((stage) => html`<li data-key="stage-${stage.name}">${link(stage, now)}</li>`)}
      ${retrying.files === 0 ? '' : html`<li data-key="stage-retrying">${retryingLink(retrying, now)}</li>`}
    </ol>
  </nav>`;
}

/** From any stage, and in none of them: with these the sum is right. */
function retryingLink({ files, next_at: next }: Picture['retrying'], now: number): Html {
  return html`<a href="/files?state=retrying" class="stage aside">
    <span class="name">retrying</span>
    <strong>${grouped(files)}</strong>
    <span class="muted">from any stage</span>
    <span class="muted">${next === null || next < now ? '' : html`next at ${moment(next, now)}`}</span>
  </a>`;
}

function link({ name, files, last_hour: lastHour, oldest_since: since, bottleneck }: StageView, now: number): Html {
  return html`<a href="/files?stage=${name}" class="${bottleneck === null ? 'stage' : 'stage slow'}">
    <span class="name">${name}</span>
    <strong>${grouped(files)}</strong>
    <span class="muted">${name === 'live' ? 'in 24 h' : since === null ? '' : html`oldest ${ago(since, now)}`}</span>
    <span class="muted">${grouped(lastHour)} last hour</span>
    ${bottleneck === null ? '' : html`<span title="${visibleText(bottleneck)}">${badge('notice', 'slowest')}</span>`}
  </a>`;
}

function ago(at: number, now: number): Html {
  return time(at, span(Math.max(1_000, Math.round((now - at) / 1_000) * 1_000)));
}
