import type { FleetStatus, HostView } from '../../daemon/fleet/host-view.ts';
import { fleetTroubles, hostWords } from '../../daemon/fleet/host-words.ts';
import { rate } from '../../view/words/amounts.ts';
import { paint } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { formatRelative } from './format.ts';

/** Pure: the hosts of a fleet, one per line, after what is wrong with them; nothing on a single host. */
export function hostLines(fleet: FleetStatus | null, now: number, colour: boolean): readonly string[] {
  if (fleet === null) return [];
  const troubles = fleetTroubles(fleet, now).map((words) => paint('yellow', escapeControls(words), colour));
  const isWorthTelling = fleet.hosts.length > 1 || fleet.hosts.some(({ state }) => state !== 'running');
  return [...troubles, ...(isWorthTelling ? fleet.hosts.map((host) => hostLine(host, now, colour)) : [])];
}

function hostLine(host: HostView, now: number, colour: boolean): string {
  const { name, here, state, version, heard_at: heardAt, bytes_per_second: speed } = host;
  const words = escapeControls(`${hostWords(host, now)}${speed === null ? '' : `, ${rate(speed)}`}`);
  const heard = here || state === 'silent' || state === 'stopped' ? '' : `, heard ${formatRelative(heardAt, now)}`;
  const who = escapeControls(`Host ${name} (${here ? 'this one, ' : ''}${version}${heard})`);
  return `${who}: ${state === 'running' ? words : paint('yellow', words, colour)}`;
}
