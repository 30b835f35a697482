import { badge, button, counted, emptyState, span, table, unseen, visibleText, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Fault } from '../../faults/faults.ts';
import type { Services } from '../../services.ts';
import { activeOf, presets, type Preset, kindInWords } from '../fault-presets.ts';
import { type View } from '../layout.ts';
import type { FaultRule } from '../../faults/fault-rule.ts';

type FaultParts = Pick<Services, 'faults' | 'clock'>;

/** View of the faults: switches for the common ones, and all of them as JSON. */
export function faults(parts: FaultParts): () => View {
  return () => {
    const list = parts.faults.list();
    return {
      title: 'Faults',
      section: '/_page/faults',
      changesWith: [],
      ...(list.length > 0 && { aside: button('/_page/faults/clear', 'Switch all off', 'danger') }),
      body: html`<section class="card" id="switches">
          <div class="head">
            <h2>Switches</h2>
            <span class="muted">each for 15 minutes</span>
          </div>
          <ul class="switches">
            ${presets.map((preset) => presetItem(preset, parts))}
          </ul>
        </section>
        <section class="card" id="planned">
          <div class="head"><h2>Active faults, in order</h2></div>
          ${list.length === 0 ? emptyState('None.') : faultTable(list, parts)}
        </section>
        ${allAsJson(list)}`,
    };
  };
}

function presetItem(preset: Preset, { faults, clock }: FaultParts): Html {
  const [active] = activeOf(preset, faults);
  const action = `/_page/faults/presets/${preset.name}?on=${active === undefined}`;
  const label = html`${active ? 'Switch off' : 'Switch on'}${unseen(`: ${preset.label}`)}`;
  return html`<li data-key="preset-${preset.name}">
    <div class="text">
      ${preset.label}
      <span>${active ? `${hitsOf(active)}, ${timeLeft(active, clock.nowMs())}` : ''}</span>
    </div>
    <div class="side">${active ? badge('notice', 'on') : badge('off', 'off')} ${button(action, label)}</div>
  </li>`;
}

function faultTable(list: readonly Fault[], { clock }: FaultParts): Html {
  return table({
    label: 'Active faults',
    items: list,
    keyOf: ({ id }) => id,
    columns: [
      {
        heading: 'Fault',
        kind: 'main',
        cell: ({ id, rule }) =>
          html`${badge('notice', kindInWords(rule.kind))}<code class="under">${id} · ${rule.kind}</code>`,
      },
      { heading: 'Operation', cell: ({ rule }) => operationOf(rule) },
      { heading: 'Details', kind: 'minor', cell: ({ rule }) => html`<bdi>${detailsOf(rule)}</bdi>` },
      { heading: 'Hits', kind: 'minor number', cell: hitsOf },
      { heading: 'Time', kind: 'minor', cell: (fault) => timeLeft(fault, clock.nowMs()) },
      {
        heading: 'Remove',
        cell: ({ id }) => button(`/_page/faults/${id}/remove`, html`Remove${unseen(` ${id}`)}`),
      },
    ],
  });
}

/** Form with all faults as JSON, for sets of faults that are kept elsewhere. */
function allAsJson(list: readonly Fault[]): Html {
  const rules = JSON.stringify(
    list.map(({ rule }) => rule),
    null,
    2,
  );
  return html`<section class="card" id="all">
    <div class="head"><h2>All faults as JSON</h2></div>
    <form class="body" method="post" action="/_page/faults/replace">
      <label
        >Faults in the order in which they are tried
        <textarea class="document" name="rules" rows="6" spellcheck="false" required>${rules}</textarea>
      </label>
      <div><button>Replace all with these</button></div>
    </form>
  </section>`;
}

/** Summary of an active fault: what it affects, how often it has applied, and when it expires. */
export function faultSummary(fault: Fault, nowMs: number): Html {
  return html`${badge('notice', kindInWords(fault.rule.kind))} ${operationOf(fault.rule)}
    <span class="muted">${hitsOf(fault)}, ${timeLeft(fault, nowMs)}</span>`;
}

function operationOf({ operation }: FaultRule): string {
  return operation === '*' ? 'all operations' : operation;
}

function hitsOf({ applied, calls }: Pick<Fault, 'applied' | 'calls'>): string {
  return `hit ${applied} of ${counted(calls, 'call')}`;
}

function timeLeft({ expiresAtMs }: Pick<Fault, 'expiresAtMs'>, nowMs: number): string {
  return expiresAtMs === null ? 'until switched off' : `${span(expiresAtMs - nowMs)} left`;
}

/** Lists the rule's parameters other than kind, operation and time to live. */
export function detailsOf({ kind: _kind, operation: _operation, ttl_ms: _ttl, ...rest }: FaultRule): string {
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}: ${visibleText(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    )
    .join(', ');
}
