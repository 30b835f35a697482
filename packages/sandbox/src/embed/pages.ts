import { html, raw } from 'hono/html';
import { PLAYER_SCRIPT, WAITING_SCRIPT } from './player-script.ts';
import { z } from 'zod';

export type Html = ReturnType<typeof html>;

interface PlayerPage {
  readonly title: string;
  readonly isAudio: boolean;
  readonly mediaUrl: string;
  readonly posterUrl: string;
  /** Path at which the page opens its play. */
  readonly playsPath: string;
  readonly settings: PlayerSettings;
  /** Allows only this page's own style and script. */
  readonly nonce: string;
}

/** Renders a page with the browser's own player; the script only counts plays. */
export function playerPage(page: PlayerPage): Html {
  const title = shownTitle(page.title);
  const { nonce, settings } = page;
  const picture = page.isAudio ? html`<img src="${page.posterUrl}" alt="" />` : '';
  const body = html`<main class="player">
      <h1 dir="auto"><span>${title}</span></h1>
      ${picture}${mediaElement(page, title)}
      <p id="unplayable" class="note" role="status" hidden>
        This browser cannot play the file. <a href="${page.mediaUrl}" download>Download it</a> instead.
      </p>
    </main>
    ${inlineScript(nonce, PLAYER_SCRIPT)}`;
  return document({ title, nonce, body, accentColor: settings.accentColor });
}

interface NoticePage {
  readonly heading: string;
  readonly text: string;
  readonly nonce: string;
  /** Whether the notice is temporary. The page then polls, or reloads itself if scripts are off. */
  readonly isWaiting?: boolean;
}

/** Renders a notice in place of the player. */
export function noticePage({ heading, text, nonce, isWaiting = false }: NoticePage): Html {
  const body = html`<main class="notice" ${isWaiting ? raw('id="waiting"') : ''}>
      <h1>${heading}</h1>
      <p>${text}</p>
    </main>
    ${isWaiting ? inlineScript(nonce, WAITING_SCRIPT) : ''}`;
  return document({ title: heading, nonce, body, head: isWaiting ? RELOAD_WITHOUT_SCRIPTS : '' });
}

const RELOAD_WITHOUT_SCRIPTS = html`<noscript><meta http-equiv="refresh" content="5" /></noscript>`;

/** Not escaped, because the code is our own. */
function inlineScript(nonce: string, code: string): Html {
  return raw(`<script nonce="${nonce}">${code}</script>`);
}

function mediaElement({ isAudio, mediaUrl, posterUrl, playsPath, settings }: PlayerPage, title: string): Html {
  const { autoplay, muted, loop, controls } = settings;
  // Controls are on initially, because without scripts nothing else could start the player.
  const attributes = html`src="${mediaUrl}" aria-label="${title}" data-plays="${playsPath}"
  data-controls="${controls ? 'on' : 'off'}" controls preload="metadata" ${autoplay ? 'autoplay' : ''}
  ${muted ? 'muted' : ''} ${loop ? 'loop' : ''}`;
  const fallback = html`<a href="${mediaUrl}" download>Download ${title}</a>`;
  return isAudio
    ? html`<audio ${attributes}>${fallback}</audio>`
    : html`<video ${attributes} playsinline poster="${posterUrl}">${fallback}</video>`;
}

interface Document {
  readonly title: string;
  readonly nonce: string;
  readonly body: Html;
  readonly head?: Html | '';
  /** Validated colour, because it is inserted into the style. */
  readonly accentColor?: string;
}

function document({ title, nonce, body, head = '', accentColor = '' }: Document): Html {
  const accentRule = accentColor && `:root { --accent: ${accentColor}; }`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        ${head} ${raw(`<style nonce="${nonce}">${PAGE_STYLE}${accentRule}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`;
}

/** Replaces invisible control characters, and shortens titles that would otherwise cover the picture. */
function shownTitle(title: string): string {
  const printable = title.replaceAll(/\p{Cc}/gu, ' ');
  const characters = Array.from(printable.slice(0, 2 * MAX_SHOWN_CHARACTERS + 2));
  if (characters.length <= MAX_SHOWN_CHARACTERS) return printable;
  return `${characters.slice(0, MAX_SHOWN_CHARACTERS).join('')}…`;
}

const MAX_SHOWN_CHARACTERS = 300;

/** Makes the page fill its frame. Loads nothing external. */
const PAGE_STYLE = `
:root { --accent: #4f8cff; color-scheme: dark; }
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; background: #0b0d10; color: #f4f6f8; }
body { font: 400 15px/1.4 system-ui, sans-serif; display: flex; }
.player { position: relative; flex: 1; min-width: 0; display: flex; flex-direction: column; overflow: hidden; }
video { flex: 1; width: 100%; min-height: 0; object-fit: contain; background: #000; accent-color: var(--accent); }
audio { width: 100%; flex: none; accent-color: var(--accent); }
img { flex: 1; width: 100%; min-height: 0; object-fit: contain; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
.player h1 {
  position: absolute; inset: 0 0 auto; z-index: 1; margin: 0; padding: 12px 16px 28px; pointer-events: none;
  font-size: 15px; font-weight: 600; background: linear-gradient(rgb(0 0 0 / .82), rgb(0 0 0 / .6) 60%, transparent);
  transition: opacity .2s;
}
.player h1 span {
  display: block; padding-inline-start: 10px; border-inline-start: 3px solid var(--accent);
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate;
}
[data-state="playing"] .player:not(:hover):not(:focus-within) h1 { opacity: 0; }
.note { position: absolute; inset: auto 0 0; z-index: 2; margin: 0; padding: 10px 16px; background: #20242b; text-align: center; }
.note[hidden] { display: none; }
a { color: #9cc0ff; }
.notice { margin: auto; padding: 24px; max-width: 40ch; text-align: center; }
.notice h1 { margin: 0 0 8px; font-size: 20px; font-weight: 600; }
.notice p { margin: 0; color: #b6bec9; }
@media (prefers-reduced-motion: reduce) { .player h1 { transition: none; } }
`;

interface PlayerSettings {
  readonly autoplay: boolean;
  readonly muted: boolean;
  readonly loop: boolean;
  readonly controls: boolean;
  /** `#rrggbb` */
  readonly accentColor: string;
}

/**
 * assumed: the specification does not show the structure of default_player_settings (api-spec section 2.2). The player
 * supports `autoplay`, `muted`, `loop` and `controls` (true or false) and `accent_color` (`#rrggbb`), and ignores other
 * settings.
 */
export function playerSettings(stored: Readonly<Record<string, unknown>>): PlayerSettings {
  const { accent_color: accentColor, ...switches } = knownSettings.parse(stored);
  return { ...switches, accentColor };
}

const knownSettings = z.object({
  autoplay: z.boolean().catch(false),
  muted: z.boolean().catch(false),
  loop: z.boolean().catch(false),
  controls: z.boolean().catch(true),
  accent_color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i)
    .catch('#4f8cff'),
});
