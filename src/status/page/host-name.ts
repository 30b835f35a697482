import { named } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';

/**
 * The name of a host. Its domain is long, and mostly the same for all: it steps back, and goes to a line of its own
 * first.
 */
export function hostName(name: string): Html {
  const dot = name.indexOf('.');
  if (dot < 1) return named(name);
  return html`${named(name.slice(0, dot))}<wbr /><span class="muted">${named(name.slice(dot))}</span>`;
}
