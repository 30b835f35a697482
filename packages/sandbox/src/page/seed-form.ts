import { html } from 'hono/html';
import type { Html } from './elements.ts';

/** Something to look at, in one step. */
export function seedForm(): Html {
  return html`<form method="post" action="/_page/seed" class="row">
    <label>Videos <input name="videos" type="number" min="0" max="1000" value="12" required /></label>
    <label>Days of plays <input name="days" type="number" min="0" max="366" value="30" required /></label>
    <button class="main">Fill with samples</button>
  </form>`;
}
