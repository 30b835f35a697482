import { type Html, counted, grouped, named, visibleText } from '@dropcast/pages';
import { html } from 'hono/html';
import { basename } from 'node:path/posix';
import type { Left } from '../../../daemon/commands/wanted.ts';
import type { FileQuery } from '../../../view/files/query.ts';
import { fileAddress, filesAddress } from './address.ts';
import { type BulkResult, bulkCommands } from './bulk-commands.ts';
import type { Outcome } from './outcomes.ts';

/**
 * The result of a command on many files, as parameters of the address that the browser is redirected to: counts and
 * extensions, no file names.
 */
type NoticeWords = Readonly<Partial<Record<(typeof words)[number], string | undefined>>>;

const words = ['did', 'to_files', 'left', 'ending'] as const;

export function noticeWords(command: string, { files, refused, left = [], excludes = [] }: BulkResult): NoticeWords {
  const rest = left.reduce((sum, each) => sum + each.files, refused.length);
  const endings = excludes.flatMap(({ pattern }) => endingForm.exec(pattern)?.[1] ?? []);
  return {
    did: command,
    to_files: String(files),
    left: rest === 0 ? undefined : String(rest),
    ending: [...new Set(endings)].slice(0, mostEndings).join(','),
  };
}

const mostEndings = 5;
const endingForm = /^\*\*\/\*\.([A-Za-z0-9]{1,8})$/;

export function noticeOf(asked: URLSearchParams): NoticeWords {
  return Object.fromEntries(words.map((word) => [word, asked.get(word) ?? undefined]));
}

/**
 * Reports the last command's result, above the files. The text is fixed, so that a forged address cannot make the page
 * say anything else.
 *
 * @param outcome with file names; null when it is no longer stored
 */
export function notice(
  { did, to_files: files, left, ending }: NoticeWords,
  { query, outcome }: { readonly query: FileQuery; readonly outcome: Outcome | null },
): Html | '' {
  const command = bulkCommands.find(({ name }) => name === did);
  if (command === undefined || !isCount(files)) return '';
  const endings = (ending ?? '').split(',').filter((each) => endingForm.test(`**/*.${each}`));
  return html`<div class="notice-bar" role="status" data-key="notice">
    <p>
      ${command.past(counted(Number(files), 'file'))}
      ${isCount(left) ? `${counted(Number(left), 'file was', 'files were')} left as they are.` : ''}
      <a href="${filesAddress(query)}">Close</a>
    </p>
    ${outcome === null ? '' : byName(outcome, Number(files))}
    ${
      endings.length === 0
        ? ''
        : html`<p>
            To exclude such files in future, add this to their folder in the configuration:
            <code>exclude: [${endings.map((each) => `"**/*.${each}"`).join(', ')}]</code>
          </p>`
    }
  </div>`;
}

function byName({ files, left, refused }: Outcome, all: number): Html {
  const rest = all - files.length;
  return html`<ul>
      ${left.map((some) => html`<li>${leftWords(some)}</li>`)}
      ${refused.map(({ name, why }) => html`<li>${named(name)}: ${visibleText(why)}</li>`)}
    </ul>
    ${
      files.length === 0
        ? ''
        : html`<details data-key="done">
            <summary>Which files</summary>
            <ul>
              ${files.map(({ id, path }) => html`<li><a href="${fileAddress(id)}">${named(path)}</a></li>`)}
              ${rest > 0 ? html`<li>and ${counted(rest, 'more file')}, among those below</li>` : ''}
            </ul>
          </details>`
    }`;
}

function isCount(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,9}$/.test(text);
}

/** Lists files that a command left unchanged, and why. */
export function leftWords({ files, why, examples }: Left): Html {
  const rest = files - examples.length;
  return html`${counted(files, 'file')} left: ${visibleText(why)}:
  ${examples.map((path, n) => html`${n === 0 ? '' : ', '}${named(basename(path))}`)}${rest > 0 ? ` and ${grouped(rest)} more` : ''}`;
}
