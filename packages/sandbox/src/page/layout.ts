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
} from '@dropcast/pages';
import type { EventType } from '../events.ts';
import type { Services } from '../services.ts';
import { assets } from './assets.ts';

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
