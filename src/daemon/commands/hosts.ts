import type { Fleet } from '../../view/hosts/fleet-view.ts';
import type { FleetLedger, FleetStatus, HostView } from '../../view/hosts/host-view.ts';
import { fleetStatusOf, hostView, mayTake } from '../../view/hosts/host-view.ts';

export interface HostsView extends FleetStatus {
  readonly v: 1;
  /** The host that responds; null: the ledger is not shared, so there are no others. */
  readonly self: string | null;
}

export interface HostChanged {
  readonly v: 1;
  readonly ok: boolean;
  /** One sentence: the result, or why nothing was done. */
  readonly what: string;
  /** The host's current state; null: no host has this name. */
  readonly host: HostView | null;
}

export interface DrainWanted {
  readonly name: string;
  /** Who gave the command. */
  readonly by: string;
  readonly isUndone?: boolean;
}

export async function hostsOf(fleet: Fleet | null, ledger: FleetLedger | null): Promise<HostsView> {
  if (fleet === null) return { v: 1, self: null, away_since: null, away: null, hosts: [] };
  // Known host states are a few seconds old. Refresh them for a command about hosts.
  if (fleet.awaySince() === null) await fleet.hosts();
  return { v: 1, self: fleet.self, ...(await fleetStatusOf(fleet, ledger)) };
}

/**
 * Drains a host: it finishes running work, starts nothing new and leaves the rest to the others, even after a restart.
 */
export async function drain(fleet: Fleet | null, { name, by, isUndone = false }: DrainWanted): Promise<HostChanged> {
  if (fleet === null) return refused(aloneWords);
  const host = await fleet.drain(name, isUndone ? null : by);
  if (host === null) return refused(unknownWords(fleet, name));
  const view = hostView(host, fleet.self);
  const rest = fleet.known().some(mayTake) ? '' : `. ${noneTakes}`;
  return { v: 1, ok: true, what: isUndone ? `${name} accepts files again` : `${drainWords(view)}${rest}`, host: view };
}

export async function forget(fleet: Fleet | null, { name }: { readonly name: string }): Promise<HostChanged> {
  if (fleet === null) return refused(aloneWords);
  switch (await fleet.forget(name)) {
    case 'forgotten':
      return {
        v: 1,
        ok: true,
        what: `${name} was removed from the list; it reappears as soon as it runs again`,
        host: null,
      };
    case 'running':
      return refused(`${name} is running: stop it first; if it was killed, repeat this 15 s later`);
    default:
      return refused(unknownWords(fleet, name));
  }
}

/** Describes how far a host's draining has progressed. Pure. */
export function drainWords({ name, state, working }: HostView): string {
  switch (state) {
    case 'drained':
      return `${name} is drained: nothing runs there`;
    case 'draining':
      return `${name} is draining: ${working === 1 ? '1 file' : `${working} files`} under way will be finished, nothing new starts`;
    default:
      return `${name} is ${state}: it takes no new work when it runs again`;
  }
}

const noneTakes =
  'No host takes files now: all files wait until a host is started or `dropcast hosts drain --undo` is run';

const aloneWords = 'this is a single host: its ledger is in its state directory, and no other host shares it';

function unknownWords(fleet: Fleet, name: string): string {
  const names = fleet.known().map((host) => host.name);
  return `no host is called ${name}; the hosts are: ${names.join(', ')}`;
}

function refused(what: string): HostChanged {
  return { v: 1, ok: false, what, host: null };
}
