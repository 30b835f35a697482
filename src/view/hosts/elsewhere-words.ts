import type { FleetView, Host } from './fleet-view.ts';
import { isAtWork, mayTake, workerOf } from './host-view.ts';

/** Explains why a command left a file alone: a step or another host holds its row. */
export function heldWords(fleet: FleetView | null, id: string): string {
  const worker = fleet === null ? null : workerOf(fleet, id);
  if (worker !== null)
    return `${worker} is working on it, and no other host can stop that: nothing was changed. Run this on ${worker}, or repeat it later`;
  return fleet === null
    ? 'busy: a step or the disk is using it; nothing was changed, repeat this later'
    : 'busy: a step or the disk is using it, here or on another host; nothing was changed, repeat this later';
}

/**
 * Explains why this host cannot do something that needs a folder's files or rules.
 *
 * @param folder as rows name it
 * @param watched this host's folders
 * @returns null: it can be done here, or no host has the folder
 */
export function whyElsewhere(fleet: FleetView | null, folder: string, watched: readonly string[]): string | null {
  const having = hostsWith(fleet, folder, watched);
  if (having === null || having.length === 0) return null;
  const atWork = having.filter(isAtWork);
  const [first] = atWork;
  if (first !== undefined) return `only ${namesOf(atWork)} can read its folder: run this on ${first.name}`;
  return goneWords(having);
}

/** Explains that no host accepts files; null: one does. */
export function noneTakesWords(fleet: FleetView | null): string | null {
  if (fleet === null || fleet.known().some(mayTake)) return null;
  return 'no host takes files: all of them are draining, stopped or silent';
}

/** Why a file that this host cannot read is waiting. */
export interface ElsewhereWait {
  readonly why: string;
  /** No host accepts the file, regardless of what else it waits for. */
  readonly isStuck: boolean;
}

/** @returns null: this host can read it, or the ledger is not shared */
export function waitsElsewhere(
  fleet: FleetView | null,
  folder: string,
  watched: readonly string[],
): ElsewhereWait | null {
  const having = hostsWith(fleet, folder, watched);
  if (having === null) return null;
  const atWork = having.filter(isAtWork);
  if (atWork.length === 0) return { why: goneWords(having), isStuck: true };
  const free = atWork.filter(({ draining }) => draining === null);
  if (free.length > 0) return { why: `waits for ${namesOf(free, 'or')}, which can read its folder`, isStuck: false };
  const why = `only ${namesOf(atWork)} can read this folder, and ${atWork.length === 1 ? 'it is' : 'they are'} draining`;
  return { why, isStuck: true };
}

/**
 * Returns the other hosts that have the folder. Null: this host has it, or had it. A folder that only other hosts have
 * is named by its place, which is not a path.
 */
function hostsWith(fleet: FleetView | null, folder: string, watched: readonly string[]): readonly Host[] | null {
  if (fleet === null || watched.includes(folder)) return null;
  const having = fleet.known().filter(({ name, doing }) => name !== fleet.self && doing.places.includes(folder));
  return having.length === 0 && folder.startsWith('/') ? null : having;
}

/** @param hosts none of them running */
function goneWords(hosts: readonly Host[]): string {
  const [last] = hosts.toSorted((one, other) => other.heardAt - one.heardAt);
  if (last === undefined) return 'no host of the fleet can read this folder';
  const who = hosts.length === 1 ? 'it' : last.name;
  const how = last.isStopped ? 'was stopped' : 'was last heard';
  return `only ${namesOf(hosts)} can read this folder, and ${who} ${how} ${agoWords(Date.now() - last.heardAt)}`;
}

/** Negative differences count as zero: two hosts' clocks may differ. */
function agoWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}

function namesOf(hosts: readonly Host[], word = 'and'): string {
  const names = hosts.map(({ name }) => name).toSorted();
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1) ?? ''}`;
}
