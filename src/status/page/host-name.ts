import { named } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';

/**
 * Renders a host's name. Its domain is long and usually the same for all hosts, so it is de-emphasised and wraps to its
 * own line first.
 */
export function hostName(name: string): Html {
  const dot = name.indexOf('.');
  if (dot < 1) return named(name);
  return html`${named(name.slice(0, dot))}<wbr /><span class="muted">${named(name.slice(dot))}</span>`;
}
