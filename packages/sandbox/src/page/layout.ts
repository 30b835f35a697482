import { html } from 'hono/html';
import {
  badge,
  counted,
  document,
  frame,
  time,
  visibleText,
  type Html,
  type View as SharedView,
  assetsAt,
} from '@dropcast/pages';
import type { EventType } from '../events.ts';
import type { Services } from '../services.ts';
import { z } from 'zod';
import { pageNumber } from '../http/input.ts';

/** One view of the page, with its own address. */
export type View = SharedView<EventType>;

const SITE = 'dropcast sandbox';

const SECTIONS = [
  ['/', 'Overview'],
  ['/_page/videos', 'Videos'],
  ['/_page/channels', 'Channels'],
  ['/_page/feeds', 'Feeds'],
  ['/_page/analytics', 'Analytics'],
  ['/_page/keys', 'Keys'],
  ['/_page/webhooks', 'Webhooks'],
  ['/_page/requests', 'Requests'],
  ['/_page/verify', 'Verify'],
  ['/_page/faults', 'Faults'],
  ['/_page/controls', 'Controls'],
] as const;

/** Events that may change any view, or the header. */
const AROUND: readonly EventType[] = ['clock.changed', 'faults.changed', 'admin.changed', 'reset'];

export function viewPage(view: View, { clock, faults, links }: Pick<Services, 'clock' | 'faults' | 'links'>): Html {
  const active = faults.list().length;
  return frame(view, {
    site: SITE,
    assets,
    sections: SECTIONS,
    live: '/_page/live',
    signedOut: 'Signed out. Open the address that the sandbox printed at its start.',
    changesWith: AROUND,
    state: html`<p class="state">
      ${active > 0 ? html`<a href="/_page/faults">${badge('notice', counted(active, 'fault'))}</a>` : ''}
      ${clock.isFrozen ? html`<a href="/_page/controls">${badge('notice', 'Clock stopped')}</a>` : ''}
      <span class="clock">${time(clock.nowMs())} UTC</span>
    </p>`,
    foot: html`<p class="base"><span>API</span><code>${links.origin}/v1</code></p>`,
  });
}

interface Problem {
  readonly title: string;
  readonly message: string;
  /** Whether a form was sent. If so, the browser still has it as filled in. */
  readonly isAboutForm: boolean;
}

/** Explains an expected failure in one sentence. */
export function problemPage({ title, message, isAboutForm }: Problem): Html {
  return document(
    { title, site: SITE, assets },
    html`<main id="main" class="alone">
      <h1>${title}</h1>
      <p>${visibleText(message)}</p>
      ${isAboutForm ? html`<p>Nothing was changed. Go back in the browser to correct the form.</p>` : ''}
      <p><a href="/">Go to the overview</a></p>
    </main>`,
  );
}

/** Page for visitors who are not signed in. Reveals nothing about the account. */
export function strangerPage(): Html {
  return document(
    { title: 'Not signed in', site: SITE, assets },
    html`<main id="main" class="alone">
      <img src="${assets.icon}" alt="" width="48" height="48" />
      <h1>This is a dropcast sandbox</h1>
      <p>
        Open the address that it printed at its start, after “Open in a browser”. It ends with
        <code>/?token=…</code>
      </p>
      <p>This browser stays signed in until you close it. After a restart the sandbox prints a new address.</p>
    </main>`,
  );
}

/** Styles for what only this page shows: players, feed previews, switches, and secrets that are shown once. */
const OWN_STYLE = `
.player { display: block; width: 100%; aspect-ratio: 16 / 9; border: 0; border-radius: 8px; background: #0b0d10; }
.still { display: block; width: 100%; height: auto; aspect-ratio: 16 / 9; object-fit: cover; border-radius: 8px; background: var(--sunken); }
.once { border: 1px solid var(--ready); background: var(--ready-soft); border-radius: 10px; padding: 14px 16px; display: flex; flex-direction: column; gap: 6px; }
.once code { font-size: 14px; user-select: all; }
.source { max-height: 420px; overflow: auto; background: var(--sunken); padding: 12px; border-radius: 6px; white-space: pre; tab-size: 2; }
.reader { list-style: none; }
.reader li { display: flex; gap: 12px; padding: 9px 16px; border-bottom: 1px solid var(--line); align-items: center; }
.reader li:last-child { border-bottom: 0; }
.reader div { min-width: 0; }
.switches { list-style: none; overflow: hidden; border-radius: 0 0 10px 10px; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.switches li { display: flex; gap: 10px; align-items: center; justify-content: space-between; padding: 9px 16px; box-shadow: 1px 0 0 var(--line), 0 1px 0 var(--line); }
.switches .text { min-width: 0; display: flex; flex-direction: column; }
.switches .text > span { color: var(--muted); font-size: 12.5px; }
.switches .side { display: flex; align-items: center; gap: 8px; flex: none; }
.headers { display: flex; flex-direction: column; gap: 4px; }
.headers > div { display: flex; flex-wrap: wrap; gap: 0 8px; }
.headers dt { color: var(--muted); font-size: 12.5px; }
.headers dd { overflow-wrap: anywhere; min-width: 0; font-size: 12.5px; }
.document { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace !important; width: 100%; resize: vertical; }
.codes { white-space: nowrap; }
.codes.bad { color: var(--failed); font-weight: 600; }
`;

export const assets = assetsAt('/_page/assets', OWN_STYLE);

export const PER_PAGE = 50;

export const page = pageNumber(999_999_999).default(1);

/** Text field of a query. Without scripts, forms also send empty fields, which count as absent. */
export const optionalText = z
  .string()
  .max(200, 'must have at most 200 characters')
  .transform((text) => (text === '' ? undefined : text))
  .optional();

export function optionalChoice<const T extends string>(choices: readonly T[]) {
  return z
    .enum(['', ...choices], `must be ${choices.join(', ')}`)
    .transform((choice) => (choice === '' ? undefined : (choice as T)))
    .optional();
}
