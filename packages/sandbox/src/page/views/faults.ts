import type { Context } from 'hono';
import {
  badge,
  button,
  counted,
  emptyState,
  select,
  span,
  table,
  unseen,
  visibleText,
  type Html,
} from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Fault } from '../../faults/faults.ts';
import { faultInWords, kindInWords } from '../../faults/fault-words.ts';
import { query } from '../../http/input.ts';
import type { Services } from '../../services.ts';
import { fieldsOf, kinds, type Field, activeOf, presets, type Preset } from '../fault-form.ts';
import type { View } from '../layout.ts';
import { optionalChoice } from '../query.ts';
import type { FaultRule } from '../../faults/fault-rule.ts';

type FaultParts = Pick<Services, 'faults' | 'clock'>;

/** View of the faults: switches for the common ones, a form for all others. */
export function faults(parts: FaultParts): (context: Context) => View {
  return (context) => {
    const { kind } = query(context.req.raw, asked);
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
        ${newFault(kind)} ${allAsJson(list)}`,
    };
  };
}

const asked = z.strictObject({ kind: optionalChoice(kinds) });

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
          html`${badge('notice', kindInWords(rule.kind))}<bdi class="under">${visibleText(faultInWords(rule))}</bdi
            ><code class="under">${id} · ${rule.kind}</code>`,
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

/** Form for a new fault. It has two steps, first the kind and then its parameters, so that it needs no script. */
function newFault(kind: string | undefined): Html {
  const choices = kinds.map((value) => ({ value, label: `${capitalised(kindInWords(value))} (${value})` }));
  return html`<section class="card" id="new-fault">
    <div class="head"><h2>Another fault</h2></div>
    <div class="body">
      <form method="get" action="/_page/faults#new-fault" class="row">
        ${select('kind', 'Kind', kind, [{ value: '', label: 'Choose…' }, ...choices])}
        <button>Choose</button>
      </form>
      ${kind === undefined ? '' : ruleForm(kind)}
    </div>
  </section>`;
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

function ruleForm(kind: string): Html {
  return html`<form method="post" action="/_page/faults" class="row">
    <input type="hidden" name="kind" value="${kind}" />
    ${fieldsOf(kind).map(input)}
    <button class="main">Add this fault</button>
  </form>`;
}

function input({ name, type, choices, initial, isRequired }: Field): Html {
  const label = LABELS[name] ?? capitalised(name.replaceAll('_', ' '));
  const required = isRequired ? 'required' : '';
  if (choices)
    return select(
      name,
      label,
      initial,
      choices.map((value) => ({ value, label: value === '*' ? 'all' : value })),
    );
  if (type === 'object')
    return html`<label>${label} <textarea name="${name}" rows="1" placeholder="{}"></textarea></label>`;
  if (type === 'string')
    return html`<label>${label} <input name="${name}" value="${initial}" ${required} autocomplete="off" /></label>`;
  const step = type === 'integer' ? '1' : 'any';
  return html`<label
    >${label} <input name="${name}" type="number" step="${step}" value="${initial}" ${required}
  /></label>`;
}

const LABELS: Readonly<Record<string, string>> = {
  ms: 'Delay in ms',
  of: 'In the body of',
  after_bytes: 'After how many bytes',
  code: 'Error code',
  message: 'Error message',
  nth: 'Starting with call number',
  times: 'Maximum hits',
  probability: 'Probability (0 to 1)',
  ttl_ms: 'Expires after (ms)',
  headers: 'Headers (JSON)',
  channel_id: 'Only for channel id',
  video_id: 'Only for video id',
  retry_after: 'Form of Retry-After',
  seconds: 'Retry-After in seconds',
  text: 'Retry-After if absurd',
};

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
function detailsOf({ kind: _kind, operation: _operation, ttl_ms: _ttl, ...rest }: FaultRule): string {
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}: ${visibleText(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    )
    .join(', ');
}
