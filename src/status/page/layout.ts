import { badge, button, counted, document, frame, type BadgeKind, type Html, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Picture } from '../../view/picture/picture.ts';
import { filesIn } from '../../view/stages.ts';
import { countUnmet, unmetWords } from '../../view/words/picture-words.ts';
import { briefly, mainWait } from '../../view/waits.ts';
import { assets } from './assets.ts';
import { breakable } from './elements.ts';
import { themeSwitch } from './theme.ts';
import type { PageWorld } from './world.ts';

const SITE = 'dropcast';

const SECTIONS = [
  ['/', 'Overview'],
  ['/files', 'Files'],
  ['/folders', 'Folders'],
  ['/events', 'Events'],
  ['/days', '30 days'],
  ['/configuration', 'Configuration'],
] as const;

/** Wraps a view in the page's frame. */
export async function viewPage(view: View, { daemon, picture, mayChange, theme }: PageWorld): Promise<Html> {
  const { kind, words, path } = healthOf(await picture());
  return frame(view, {
    site: SITE,
    assets,
    theme,
    sections: SECTIONS,
    live: '/live',
    signedOut: 'Signed out. Run “dropcast open” on this machine, and open the link that it prints.',
    changesWith: ['file', 'folder', 'paused', 'resumed'],
    // A view that nothing changes is a form: a reload would lose what was typed.
    ...(view.changesWith.length > 0 && { refreshSeconds: view.section === '/' ? 5 : 30 }),
    state: html`<div class="state">
      <a id="health" href="${path}">${badge(kind, words)}</a>
      <span class="who"
        >${mayChange ? '' : html`<span class="muted">Read-only</span>`} ${button('/sign-out', 'Sign out')}</span
      >
    </div>`,
    foot: html`<p class="base"><span>Configuration</span><code>${breakable(daemon.config().file)}</code></p>
      ${themeSwitch(theme)}`,
  });
}

/** Summarises dropcast's state in a few words, with a link to the details. */
function healthOf({ waits, needs_you: { files: needsYou }, stages, expectations }: Picture): {
  readonly kind: BadgeKind;
  readonly words: string;
  readonly path: string;
} {
  const unmet = countUnmet(expectations);
  const needs = `${counted(needsYou, 'file needs', 'files need')} you`;
  // Details and remedies are on the overview.
  const path = '/';
  const wait = mainWait(waits, filesIn(stages, 'queued'));
  const frozen = waits.filter(({ cause }) => cause === 'folder').length;
  if (wait !== null) return { kind: 'bad', words: briefly(wait), path };
  if (frozen > 0) return { kind: 'bad', words: `${counted(frozen, 'folder')} not available`, path: '/folders' };
  if (needsYou > 0) return { kind: 'notice', words: needs, path };
  if (unmet > 0) return { kind: 'notice', words: unmetWords(unmet), path };
  const isBusy = filesIn(stages, 'settling', 'queued', 'uploading') > 0;
  return isBusy ? { kind: 'busy', words: 'Working', path } : { kind: 'good', words: 'All is well', path };
}

/** A page without the frame. */
function alone(title: string, body: Html, head?: Html): Html {
  return document({ title, site: SITE, assets, head }, html`<main id="main" class="alone">${body}</main>`);
}

const home = html`<p><a href="/">Go to the overview</a></p>`;

/** Renders an expected failure, in one sentence. */
export function problemPage(title: string, message: string): Html {
  return alone(
    title,
    html`<h1>${title}</h1>
      <p>${message}</p>
      ${home}`,
  );
}

/**
 * The page for visitors who are not signed in: shows nothing about files. @param why in one sentence; empty for a first
 * visit
 */
export function strangerPage(why = ''): Html {
  return alone(
    'Not signed in',
    html`<img src="${assets.icon}" alt="" width="48" height="48" />
      <h1>This is dropcast</h1>
      ${why !== '' && html`<p>${why}</p>`}
      <p>Run <code>dropcast open</code> on this machine and open the link that it prints.</p>
      <p class="muted">
        Members of the service's group have read-only access. Root and the user of the service may also make changes.
      </p>`,
  );
}

/** The page after signing in. The browser now has its cookie, and is redirected to the overview. */
export function entrancePage(): Html {
  const head = html`<meta http-equiv="refresh" content="0; url=/" />`;
  return alone(
    'Signed in',
    html`<h1>Signed in</h1>
      ${home}`,
    head,
  );
}
