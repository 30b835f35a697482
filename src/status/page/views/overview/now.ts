import { posix } from 'node:path';
import { badge, fileSize, grouped, named, span, table, unseen, visibleText } from '@dropcast/pages';
import type { BadgeKind, Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { rate } from '../../../../view/words/amounts.ts';
import type { NowFile, Picture } from '../../../../view/picture/picture.ts';
import { moment } from '../../moment.ts';

/** Lists files in progress in order of arrival, so that rows keep their places. */
export function nowPanel({ files, more }: Picture['now'], now: number): Html | '' {
  if (files.length === 0) return '';
  return html`<section class="card" data-key="now">
    <div class="head"><h2>Now</h2></div>
    ${table({
      label: 'Files under way',
      items: files,
      keyOf: ({ id }) => id,
      columns: [
        { heading: 'File', kind: 'main', cell: fileCell },
        { heading: 'State', cell: (file) => html`${stageCell(file)} ${whenCell(file, now)}` },
      ],
    })}
    ${more === 0 ? '' : html`<p class="body muted">And ${grouped(more)} more: each stage above leads to its files.</p>`}
  </section>`;
}

function fileCell({ id, path, kind }: NowFile): Html {
  return html`<span class="kind" aria-hidden="true">${ICONS[kind]}</span>${unseen(`${kind}: `)}<a
      href="/files/${encodeURIComponent(id)}"
      title="${visibleText(path)}"
      >${named(posix.basename(path))}</a
    >`;
}

const ICONS: Readonly<Record<NowFile['kind'], string>> = { video: '▶', audio: '♪', link: '↗', file: '▪' };

const BADGES: Readonly<Record<string, BadgeKind | undefined>> = {
  uploading: 'busy',
  creating: 'busy',
  retrying: 'notice',
};

function stageCell({ stage, state, sent, size, bytes_per_second: speed }: NowFile): Html {
  if (state !== 'uploading' || sent === null) return badge(BADGES[state] ?? 'waiting', stage);
  const share = size > 0 ? Math.floor((100 * sent) / size) : 0;
  return html`${badge('busy', `${stage} ${share} %`)}
    <progress max="100" value="${share}" aria-label="${share} % sent"></progress>
    <span class="muted">${fileSize(sent)} of ${fileSize(size)}${speed === null ? '' : `, ${rate(speed)}`}</span>`;
}

function whenCell(
  { ready_at: readyAt, sent_at: sentAt, next_look_at: look, state, why, host }: NowFile,
  now: number,
): Html {
  const inMs = look === null ? 0 : look - now;
  const next = state === 'retrying' ? 'next try in' : 'next check in';
  const parts = [
    readyAt === null ? '' : html`ready at ${moment(readyAt, now)}`,
    readyAt === null && sentAt !== null ? html`sent at ${moment(sentAt, now)}` : '',
    inMs >= 1_000 ? `${next} ${span(Math.round(inMs / 1_000) * 1_000)}` : '',
    why === null ? '' : visibleText(why),
    host === null ? '' : html`on ${named(host)}`,
  ].filter((part) => part !== '');
  return html`<span class="when">${parts.map((part, n) => html`${n === 0 ? '' : '; '}${part}`)}</span>`;
}
