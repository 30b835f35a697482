import {
  addressOf,
  badge,
  card,
  commandLine,
  counted,
  named,
  unseen,
  visibleLines,
  visibleText,
  type Html,
  type View,
} from '@dropcast/pages';
import { html } from 'hono/html';
import type { Config } from '../../../config/config.ts';
import { mostKnownTried, type TriedRules } from '../../../daemon/rules/try-rules.ts';
import { operatorCommand } from '../../../read-permission.ts';
import { PageError, type Asked, type PageEvent, type PageWorld } from '../world.ts';
import { report } from './configuration.ts';

/** A form for the rules of one folder, and what they would do. Nothing is written. @throws {PageError} 404 */
export function tryRulesForm({ daemon, memory, mayChange }: PageWorld, { query }: Asked): View<PageEvent> {
  const config = daemon.config();
  const trial = memory.trials.find(query.get('trial'));
  const folder = trial?.folder ?? query.get('folder') ?? '';
  const index = config.folders.findIndex(({ path }) => path === folder);
  if (index < 0) throw new PageError(404, 'This folder is not watched: choose one on the page of the configuration.');
  if (!mayChange) throw new PageError(403, 'Trying rules takes the right to make changes, although it makes none.');
  const text = trial?.text ?? config.source.rulesText?.(index) ?? 'rules: []\n';
  return {
    title: 'Try rules',
    section: '/configuration',
    changesWith: [],
    aside: named(folder),
    body: html`<section class="card">
        <form method="post" action="/configuration/try${addressOf({ folder })}" class="body">
          <label
            >Path of a file in the folder (it need not exist)
            <input name="path" value="${trial?.path ?? ''}" autocomplete="off" spellcheck="false" maxlength="4096"
          /></label>
          <label
            >Rules of ${visibleText(folder)}
            <textarea name="rules" class="yaml" rows="14" spellcheck="false" autocapitalize="off" maxlength="60000">
${text}</textarea>
          </label>
          <div class="row"><button class="main">Try</button></div>
          <p class="muted">Nothing is written. Comments of the file are not shown here.</p>
        </form>
      </section>
      ${trial === null ? '' : result(trial, config)}`,
  };
}

function result(trial: TriedRules, { file }: Config): Html {
  const { problems, report: told, why, plan, path, folder, text } = trial;
  const isWrong = problems.some(({ severity }) => severity === 'error');
  return html`<section class="card" id="tried" role="status">
      <div class="head">
        <h2>Result</h2>
        ${isWrong ? badge('bad', 'errors') : badge('good', 'valid rules')}
      </div>
      <div class="body">
        ${
          problems.length > 0 &&
          html`<ul class="findings">
            ${problems.map(problemLine)}
          </ul>`
        }
        ${why !== null && html`<p class="warn">${visibleText(why)}.</p>`} ${told && report({ ...told, folder, path })}
        ${plan && changes(plan)}
      </div>
    </section>
    ${!isWrong && apply(text, folder, file)}`;
}

function problemLine({ line, column, message, severity }: TriedRules['problems'][number]): Html {
  return html`<li>
    ${badge(severity === 'error' ? 'bad' : 'notice', severity)} line ${line}, column ${column}: ${visibleText(message)}
  </li>`;
}

function changes({ waiting, sent }: NonNullable<TriedRules['plan']>): Html {
  const all = [...waiting.changes, ...sent.changes].slice(0, 20);
  return html`<p>
      Of the newest ${mostKnownTried} known files, ${counted(waiting.files, 'waiting file')} would change at once, and
      ${counted(sent.files, 'sent file')} with <code>dropcast reapply</code>, for ${counted(sent.requests, 'request')}.
    </p>
    <ul class="findings">
      ${all.map(
        ({ path, what, after }) =>
          html`<li>
            ${named(path)}: ${what.join(', ')};
            ${after.held === null ? html`${named(after.title ?? '')} in ${named(after.channel ?? '')}` : visibleText(after.held)}
          </li>`,
      )}
    </ul>`;
}

/** The configuration belongs to root, so the page writes it out for a shell. */
function apply(text: string, folder: string, file: string): Html {
  return card({
    title: 'To apply it',
    aside: html`<button type="button" class="scripted" data-copy="yaml">Copy${unseen(' the rules')}</button>`,
    body: html`<p>
        Put this in place of <code>rules:</code> of ${named(folder)} in <code>${visibleText(file)}</code>, indented like
        the other keys of the folder:
      </p>
      <pre class="command" id="yaml" tabindex="0" role="region" aria-label="Rules">${visibleLines(text)}</pre>
      <p>Then see the changes, and apply them:</p>
      ${commandLine(`${operatorCommand('dropcast reload --plan')}\n${operatorCommand('dropcast reload')}`)}`,
  });
}
