import { html } from 'hono/html';
import type { EventType } from '../events.ts';
import type { Services } from '../services.ts';
import { asset } from './assets/assets.ts';
import { badge, time, type Html } from './elements.ts';
import { counted } from './words.ts';

/** One address of the page. */
export interface View {
  readonly title: string;
  /** The heading, if it is longer than the title. */
  readonly heading?: Html;
  /** Its entry in the navigation. */
  readonly section: string;
  /** Next to the heading. */
  readonly aside?: Html;
  readonly body: Html;
  /** The events that change it. */
  readonly changesWith: readonly EventType[];
}

const SECTIONS = [
  ['/', 'Overview'],
  ['/_page/videos', 'Videos'],
  ['/_page/channels', 'Channels'],
  ['/_page/feeds', 'Feeds'],
  ['/_page/analytics', 'Analytics'],
  ['/_page/keys', 'Keys'],
  ['/_page/webhooks', 'Webhooks'],
  ['/_page/requests', 'Requests'],
  ['/_page/faults', 'Faults'],
  ['/_page/controls', 'Controls'],
] as const;

/** Events that change the header of every view. */
const AROUND: readonly EventType[] = ['clock.changed', 'faults.changed', 'reset'];

export function viewPage(view: View, { clock, faults, links }: Pick<Services, 'clock' | 'faults' | 'links'>): Html {
  const active = faults.list().length;
  const isFrozen = clock.isFrozen;
  return document(
    view.title,
    html`<a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <a class="brand" href="/"><img src="${asset('icon.svg')}" alt="" width="24" height="24" />dropcast sandbox</a>
        <p id="connection" role="status"></p>
        <p class="state">
          ${active > 0 ? html`<a href="/_page/faults">${badge('on', counted(active, 'fault'))}</a>` : ''}
          ${isFrozen ? html`<a href="/_page/controls">${badge('on', 'Clock stopped')}</a>` : ''}
          <span class="clock">${time(clock.nowMs())} UTC</span>
        </p>
      </header>
      <nav class="sections" aria-label="Sections">
        <ul>
          ${SECTIONS.map(([path, label]) => html`<li>${sectionLink(path, label, path === view.section)}</li>`)}
        </ul>
        <p class="base"><span>API</span><code>${links.origin}/v1</code></p>
      </nav>
      <main id="main" tabindex="-1" data-changes-with="${[...AROUND, ...view.changesWith].join(' ')}">
        <div class="heading">
          <h1>${view.heading ?? view.title}</h1>
          ${view.aside ?? ''}
        </div>
        ${view.body}
      </main>`,
  );
}

/** An expected failure, explained in one sentence. */
export function problemPage(title: string, message: string): Html {
  return document(
    title,
    html`<main id="main" class="alone">
      <h1>${title}</h1>
      <p>${message}</p>
      <p><a href="/">Go to the overview</a></p>
    </main>`,
  );
}

/** For visitors who are not signed in: shows nothing of the account. */
export function strangerPage(): Html {
  return document(
    'Not signed in',
    html`<main id="main" class="alone">
      <img src="${asset('icon.svg')}" alt="" width="48" height="48" />
      <h1>This is a dropcast sandbox</h1>
      <p>
        Open the address that it printed at its start, after “Open in a browser”. It ends with
        <code>/?token=…</code>
      </p>
      <p>This browser stays signed in until you close it. After a restart the sandbox prints a new address.</p>
    </main>`,
  );
}

function sectionLink(path: string, label: string, isCurrent: boolean): Html {
  return isCurrent ? html`<a href="${path}" aria-current="page">${label}</a>` : html`<a href="${path}">${label}</a>`;
}

function document(title: string, body: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title} · dropcast sandbox</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="${asset('icon.svg')}" />
        <link rel="stylesheet" href="${asset('style.css')}" />
        <script src="${asset('live.js')}" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html>`;
}
