import { html } from 'hono/html';
import type { Assets } from './assets/assets.ts';
import type { Html } from './elements.ts';

/** The page at one address of a site. */
export interface View<Event extends string = string> {
  readonly title: string;
  /** Heading, if it is longer than the title. */
  readonly heading?: Html;
  /** Path of the view's entry in the navigation. */
  readonly section: string;
  /** Shown next to the heading. */
  readonly aside?: Html;
  readonly body: Html;
  /** Events that change the view. */
  readonly changesWith: readonly Event[];
}

/** The parts that surround every view of a site. */
export interface Frame {
  /** Shown after the title in the browser tab, and next to the icon. */
  readonly site: string;
  readonly assets: Assets;
  readonly sections: readonly (readonly [path: string, label: string])[];
  /** Shown at the end of the header. */
  readonly state: Html;
  /** Shown below the sections. */
  readonly foot: Html;
  /** Address of the event stream. */
  readonly live: string;
  /** Text shown once the session has ended. */
  readonly signedOut: string;
  /** Events that change the header or the foot. */
  readonly changesWith: readonly string[];
  /** How often a browser without scripts reloads the page, in seconds; never if omitted. */
  readonly refreshSeconds?: number;
  /** The reader's colour scheme; that of the system if omitted. */
  readonly theme?: Theme | undefined;
}

export type Theme = 'light' | 'dark';

/** Renders a view in its frame as a complete document. */
export function frame(view: View, around: Frame): Html {
  const { site, assets, sections, state, foot, live, signedOut, changesWith, refreshSeconds, theme } = around;
  const refresh =
    refreshSeconds === undefined
      ? ''
      : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`;
  return document(
    { title: view.title, site, assets, head: refresh, theme },
    html`<a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <a class="brand" href="/"><img src="${assets.icon}" alt="" width="24" height="24" />${site}</a>
        <p id="connection" role="status"></p>
        ${state}
      </header>
      <nav class="sections" aria-label="Sections">
        <ul>
          ${sections.map(([path, label]) => html`<li>${sectionLink(path, label, path === view.section)}</li>`)}
        </ul>
        ${foot}
      </nav>
      <main
        id="main"
        tabindex="-1"
        data-live="${live}"
        data-signed-out="${signedOut}"
        data-changes-with="${[...new Set([...changesWith, ...view.changesWith])].join(' ')}"
      >
        <div class="heading">
          <h1>${view.heading ?? view.title}</h1>
          ${view.aside ?? ''}
        </div>
        ${view.body}
      </main>`,
  );
}

function sectionLink(path: string, label: string, isCurrent: boolean): Html {
  return isCurrent ? html`<a href="${path}" aria-current="page">${label}</a>` : html`<a href="${path}">${label}</a>`;
}

interface Head extends Pick<Frame, 'site' | 'assets' | 'theme'> {
  readonly title: string;
  readonly head?: Html | '' | undefined;
}

/** Renders a document in the style of the site. */
export function document({ title, site, assets, head = '', theme }: Head, body: Html): Html {
  return html`<!doctype html>
    <html lang="en" ${theme === undefined ? '' : html` data-theme="${theme}"`}>
      <head>
        <meta charset="utf-8" />
        <title>${title} · ${site}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="${theme ?? 'light dark'}" />
        <meta name="robots" content="noindex" />
        ${head}
        <link rel="icon" href="${assets.icon}" />
        <link rel="stylesheet" href="${assets.style}" />
        <script src="${assets.script}" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html>`;
}
