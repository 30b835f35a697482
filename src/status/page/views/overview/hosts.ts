import { badge, table, visibleText } from '@dropcast/pages';
import type { BadgeKind, Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { FleetStatus, HostView } from '../../../../view/hosts/host-view.ts';
import { fleetTroubles, hostWords } from '../../../../view/hosts/host-words.ts';
import { rate } from '../../../../view/words/amounts.ts';
import { filesAddress } from '../../files/address.ts';
import { hostName } from '../../host-name.ts';
import { moment } from '../../moment.ts';

/** Shows a fleet's hosts and their problems. A fleet of one host is hidden while it runs without problems. */
export function hostsPanel(fleet: FleetStatus | null, now: number): Html | '' {
  if (fleet === null) return '';
  const troubles = fleetTroubles(fleet, now);
  const { hosts } = fleet;
  if (troubles.length === 0 && hosts.length < 2 && hosts.every(({ state }) => state === 'running')) return '';
  return html`<section class="card" data-key="hosts">
    <div class="head"><h2>Hosts</h2></div>
    ${troubles.map((words) => html`<p class="body warn">${visibleText(words)}</p>`)}
    ${table({
      label: 'Hosts of this fleet',
      items: hosts,
      keyOf: ({ name }) => name,
      columns: [
        { heading: 'Host', kind: 'main', cell: nameCell },
        { heading: 'State', cell: ({ state }) => badge(BADGES[state], state) },
        { heading: 'Activity', cell: (host) => doesCell(host, now) },
        { heading: 'Version', kind: 'minor', cell: ({ version }) => visibleText(version) },
        { heading: 'Last heard', kind: 'minor', cell: ({ heard_at: at }) => moment(at, now) },
      ],
    })}
  </section>`;
}

const BADGES: Readonly<Record<HostView['state'], BadgeKind>> = {
  running: 'good',
  draining: 'notice',
  drained: 'off',
  silent: 'bad',
  stopped: 'off',
};

function nameCell({ name, here }: HostView): Html {
  return html`<a href="${filesAddress({ host: name })}">${hostName(name)}</a
    >${here ? html` <span class="muted">this one</span>` : ''}`;
}

function doesCell(host: HostView, now: number): Html {
  const { bytes_per_second: speed } = host;
  return html`${visibleText(hostWords(host, now))}${speed === null ? '' : `, ${rate(speed)}`}`;
}
