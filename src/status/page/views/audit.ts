import { button, card, grouped, named, table, visibleText, type Html, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import { auditOf, type AuditGroup } from '../../../view/audit/audit-view.ts';
import { costWords, howToDelete } from '../../../view/words/audit-words.ts';
import { fileAddress } from '../elements.ts';
import type { PageEvent, PageWorld } from '../world.ts';

/** Shows the last audit, or the running one, and what another one costs. */
export async function audit({ daemon, mayChange }: PageWorld): Promise<View<PageEvent>> {
  const { audit: last, words, groups } = await auditOf(daemon.ledger, daemon.audit.trouble());
  const cost = await daemon.audit.cost({ folder: null, since: null, isQuick: false }, false);
  const begin = html`${button('/audit', 'Run a full audit')} ${button('/audit?quick=1', 'Only read the list')}`;
  const buttons = last?.state === 'running' ? button('/audit/stop', 'Stop the audit') : begin;
  const about = card({
    title: 'Disk, ledger and service',
    key: 'audit',
    body: html`<p>${visibleText(words)}</p>
      <p class="muted">A full audit: ${visibleText(costWords(cost))}</p>
      ${mayChange && html`<div class="row">${buttons}</div>`}`,
  });
  return {
    title: 'Audit',
    section: '/folders',
    changesWith: ['command'],
    body: html`${about} ${groups.map(groupCard)}`,
  };
}

function groupCard({ kind, title, count, members }: AuditGroup): Html {
  const list = table({
    label: title,
    items: members,
    keyOf: ({ id, video_id: video }) => id ?? video ?? '',
    columns: [
      {
        heading: 'Name',
        kind: 'main',
        cell: ({ id, name }) => (id === null ? named(name) : html`<a href="${fileAddress(id)}">${named(name)}</a>`),
      },
      {
        heading: 'Video',
        cell: ({ video_id: video, note }) => visibleText([video, note].filter(Boolean).join(': ')),
      },
    ],
  });
  const how = html`<p class="base">To delete them: <code>${howToDelete}</code></p>`;
  return card({
    title: `${visibleText(title)} (${grouped(count)})`,
    key: `audit-${kind}`,
    wide: [list, kind === 'deletable' ? how : ''],
  });
}
