import { addressOf, badge, button, named, table, unseen, visibleText, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { moment } from '../elements.ts';
import type { PageWorld } from '../world.ts';

/** Lists the notification targets, each with its last test. Addresses and tokens are not shown: they may be secret. */
export function targetsPanel({ daemon, targetTests, now, mayChange }: PageWorld): Html | '' {
  const targets = daemon.config().notify;
  if (targets.length === 0) return '';
  const deaf = daemon.messageTargets.deaf();
  const state = (name: string): Html | string => {
    const test = targetTests.last(name);
    if (test !== null)
      return html`${badge(test.ok ? 'good' : 'bad', test.ok ? 'accepted' : 'failed')} ${visibleText(test.place)}:
      ${visibleText(test.answer)}, at ${moment(test.at, now)}`;
    const trouble = deaf.find((each) => each.name === name);
    return trouble === undefined
      ? ''
      : html`${badge('bad', 'failed')} ${visibleText(trouble.why)}, since ${moment(trouble.since, now)}`;
  };
  const test = {
    heading: 'Test',
    cell: ({ name }: { readonly name: string }) =>
      button(`/targets/test${addressOf({ target: name })}`, html`Send a test${unseen(` to ${name}`)}`),
  };
  return html`<section class="card" id="targets">
    <div class="head"><h2>Notifications</h2></div>
    ${table({
      label: 'Notification targets',
      items: targets,
      keyOf: ({ name }) => name,
      columns: [
        { heading: 'Target', kind: 'main', cell: ({ name }) => named(name) },
        { heading: 'Type', kind: 'minor', cell: ({ type }) => type },
        { heading: 'Last test', cell: ({ name }) => state(name) },
        ...(mayChange ? [test] : []),
      ],
    })}
  </section>`;
}
