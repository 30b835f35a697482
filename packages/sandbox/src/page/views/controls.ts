import { html } from 'hono/html';
import { badge, button, confirmed, facts, select, time, type Html } from '@dropcast/pages';
import type { Services } from '../../services.ts';
import { openPoints, profileNames, switchNames, type SwitchName } from '../../profiles/switch-table.ts';
import type { View } from '../layout.ts';
import { keyUsage } from './keys.ts';
import { snapshotsByName } from './makers.ts';

type ControlParts = Pick<
  Services,
  'clock' | 'requestWindow' | 'records' | 'settings' | 'links' | 'switchboard' | 'snapshots'
>;

/** View of clock, limit, samples, reset, snapshots and other facts about the sandbox. */
export function controls(parts: ControlParts): () => Promise<View> {
  return async () => ({
    title: 'Controls',
    section: '/_page/controls',
    changesWith: ['request', 'key.changed'],
    body: html`<div class="columns">${clockCard(parts)} ${limitCard(parts)}</div>
      <div class="columns">${profileCard(parts)} ${samplesCard()}</div>
      <div class="columns">${snapshotCard()} ${resetCard()}</div>
      ${snapshotsByName(await parts.snapshots.list())} ${aboutCard(parts)}`,
  });
}

function clockCard({ clock }: ControlParts): Html {
  const advance = (by: string, label: string) =>
    html`<form method="post" action="/_page/clock/advance"><button name="by" value="${by}">${label}</button></form>`;
  return html`<section class="card" id="clock">
    <div class="head">
      <h2>Clock</h2>
      ${clock.isFrozen ? badge('notice', 'stopped') : badge('good', 'running')}
    </div>
    <div class="body">
      <p>${time(clock.nowMs())} UTC</p>
      <p class="muted">
        Rate limit, processing, expiry and all times in answers follow this clock. It never goes back.
      </p>
      <div class="row middle">
        ${clock.isFrozen ? button('/_page/clock?frozen=false', 'Start') : button('/_page/clock?frozen=true', 'Stop')}
        ${advance('1m', '+ 1 minute')} ${advance('1h', '+ 1 hour')} ${advance('1d', '+ 1 day')}
      </div>
      <form method="post" action="/_page/clock/advance" class="row">
        <label
          >Move forward by <input name="by" placeholder="90s" required pattern="[0-9]{1,12}(ms|s|m|h|d)" size="8"
        /></label>
        <button>Move forward</button>
      </form>
      <form method="post" action="/_page/clock/set" class="row">
        <label
          >Stop it at <input name="now" placeholder="2030-01-01T00:00:00Z" required maxlength="40" size="22"
        /></label>
        <button>Set</button>
      </form>
    </div>
  </section>`;
}

function limitCard(parts: ControlParts): Html {
  return html`<section class="card" id="limit">
    <div class="head"><h2>Rate limit</h2></div>
    <div class="body">
      <form method="post" action="/_page/limit" class="row">
        <label
          >Requests per hour and key
          <input
            name="requests_per_hour"
            type="number"
            min="1"
            max="1000000000"
            required
            value="${parts.requestWindow.limit}"
        /></label>
        <button>Change</button>
      </form>
      ${keyUsage(parts)}
    </div>
  </section>`;
}

function profileCard({ switchboard }: ControlParts): Html {
  const { profile, set } = switchboard.view();
  const others = Object.entries(set).map(([name, value]) => `${name}=${value}`);
  return html`<section class="card" id="profile">
    <div class="head"><h2>Profile</h2></div>
    <div class="body">
      <p class="muted">
        How the points are settled that the specification leaves open.
        <a href="/_sandbox/profile">All points and their values</a>
      </p>
      <form class="row" method="post" action="/_page/profile">
        ${select(
          'profile',
          'Profile',
          profile,
          profileNames.map((name) => ({ value: name, label: name })),
        )}
        <button>Choose</button>
      </form>
      <form class="row" method="post" action="/_page/profile/switch">
        <label
          >Single point
          <select name="switch">
            ${switchNames.map(choicesOf)}
          </select></label
        >
        <button>Set</button>
      </form>
      ${others.length === 0 ? '' : html`<p>Also set: <code>${others.join(' ')}</code></p>`}
    </div>
  </section>`;
}

function choicesOf(name: SwitchName): Html {
  return html`<optgroup label="${name}">
    ${openPoints[name].values.map((value) => html`<option>${name}=${value}</option>`)}
  </optgroup>`;
}

function samplesCard(): Html {
  return html`<section class="card" id="samples">
    <div class="head"><h2>Samples</h2></div>
    <div class="body">
      <p class="muted">Adds videos from real files to all channels, and generated plays to all ready videos.</p>
      ${seedForm()}
    </div>
  </section>`;
}

function resetCard(): Html {
  return html`<section class="card" id="reset">
    <div class="head"><h2>Reset</h2></div>
    <div class="body">
      <p class="muted">
        Restores the state right after the start: videos, plays, keys, webhooks, faults, expectations, clock and
        journal.
      </p>
      ${confirmed('/_page/reset', {
        first: 'Reset everything…',
        question: 'Deletes all records and files.',
        second: 'Reset the sandbox',
      })}
    </div>
  </section>`;
}

function snapshotCard(): Html {
  return html`<section class="card" id="snapshot">
    <div class="head"><h2>Snapshot</h2></div>
    <div class="body">
      <p class="muted">
        All records as one JSON document, with hashes of the keys, and optionally with up to 64 MiB of files.
      </p>
      <div class="row middle">
        <a class="button" href="/_sandbox/export" download="sandbox.json">Save the records</a>
        <a class="button" href="/_sandbox/export?media=true" download="sandbox-with-files.json"
          >Save records and files</a
        >
      </div>
      <form class="row" method="post" action="/_page/import" enctype="multipart/form-data">
        <label>Saved document <input type="file" name="document" accept=".json,application/json" required /></label>
        <button class="danger">Replace everything with it</button>
      </form>
    </div>
  </section>`;
}

function aboutCard({ settings, links }: ControlParts): Html {
  return html`<section class="card" id="about">
    <div class="head"><h2>This sandbox</h2></div>
    <div class="body">
      ${facts([
        ['Seed', String(settings.seed)],
        ['API', html`<code>${links.origin}/v1</code>`],
        ['Uploads', html`<code>${links.uploadOrigin}</code>`],
        ['Admin side', html`<a href="/_sandbox"><code>/_sandbox</code></a>`],
        ['State', html`<a href="/_sandbox/state"><code>/_sandbox/state</code></a>`],
        ['Contract', html`<a href="/openapi.yaml"><code>/openapi.yaml</code></a>`],
      ])}
    </div>
  </section>`;
}

/** Form that adds sample videos and plays in one step. */
export function seedForm(): Html {
  return html`<form method="post" action="/_page/seed" class="row">
    <label>Videos <input name="videos" type="number" min="0" max="1000" value="12" required /></label>
    <label>Days of plays <input name="days" type="number" min="0" max="366" value="30" required /></label>
    <button class="main">Add samples</button>
  </form>`;
}
