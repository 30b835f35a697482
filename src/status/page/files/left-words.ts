import { basename } from 'node:path/posix';
import { counted, grouped, named, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Left } from '../../../daemon/commands/wanted.ts';

/** Files that a command leaves as they are, and why. */
export function leftWords({ files, why, examples }: Left): Html {
  const rest = files - examples.length;
  return html`${counted(files, 'file')} left: ${visibleText(why)}:
  ${examples.map((path, n) => html`${n === 0 ? '' : ', '}${named(basename(path))}`)}${rest > 0 ? ` and ${grouped(rest)} more` : ''}`;
}
