import { badge, grouped, span, time, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Picture, StageView } from '../../../../view/picture/picture.ts';
import { stageWord } from '../../../../view/stages.ts';
import { moment } from '../../moment.ts';

/** Where all files are on their way. Each stage leads to its files; the one where they wait most is marked, and the line below says why. */
export function stageStrip({ stages, retrying }: Picture, now: number): Html {
  return html`<nav class="stages" aria-label="Stages" data-key="stages">
      <ol>
        ${stages.map((stage) => html`<li data-key="stage-${stage.name}">${link(stage, now)}</li>`)}
      </ol>
    </nav>
    ${retrying.files === 0 ? '' : retryLine(retrying, now)}`;
}

function retryLine({ files, next_at: next }: Picture['retrying'], now: number): Html {
  const when = next === null || next < now ? '' : html`, the next at ${moment(next, now)}`;
  return html`<p class="muted" data-key="retrying">
    ${grouped(files)} of them ${files === 1 ? 'waits' : 'wait'} for another try${when}.
  </p>`;
}

function link(stage: StageView, now: number): Html {
  const { name, files, retrying, last_hour: lastHour, oldest_since: since, bottleneck } = stage;
  const word = stageWord(name);
  return html`<a href="/files?state=${word}" class="${bottleneck === null ? 'stage' : 'stage slow'}">
    <span class="name">${word}</span>
    <strong>${grouped(files + retrying)}</strong>
    <span class="muted">${word === 'done' ? 'in 24 h' : since === null ? '' : html`oldest ${ago(since, now)}`}</span>
    <span class="muted">${grouped(lastHour)} last hour</span>
    ${bottleneck === null ? '' : html`<span title="${visibleText(bottleneck)}">${badge('notice', 'slowest')}</span>`}
  </a>`;
}

function ago(at: number, now: number): Html {
  return time(at, span(Math.max(1_000, Math.round((now - at) / 1_000) * 1_000)));
}
