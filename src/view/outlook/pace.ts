import type { Config } from '../../config/config.ts';
import type { FleetView } from '../hosts/fleet-view.ts';
import type { Gate } from '../../host/gate.ts';
import { roomOf } from '../../host/budget-window.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import { type Pace, untilRoomMs } from '../../pipeline/estimate.ts';
import { mayTake } from '../hosts/host-view.ts';
import type { UploadHours } from '../../pipeline/sending-time.ts';

/** The parts of the daemon that the pace is computed from. */
export interface PaceWorld {
  readonly conductor: Pick<Conductor, 'pace' | 'quotaRoom'>;
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly times: { limit(): number | null; mayStart(): boolean; later(): readonly UploadHours[] };
  /** Null: the ledger is not shared. */
  readonly fleet: FleetView | null;
  config(): Config;
}

/** Returns the measured speed and the limits. */
export function paceOf(world: PaceWorld): Pace {
  const { conductor, gate, times } = world;
  // `config` is a method of the daemon and needs its `this`.
  const { uploads, poll, publish } = world.config();
  return {
    ...conductor.pace(),
    // This host's limit is omitted in a fleet: the measured speed already includes every host's limit.
    bandwidth: world.fleet === null ? times.limit() : null,
    mayStart: times.mayStart(),
    later: times.later(),
    slots: slotsOf(world.fleet, uploads.concurrency),
    room: roomOf(gate.snapshot()),
    quota: conductor.quotaRoom(),
    pollMs: poll.intervalMs,
    quietMs: publish.quietMs,
    atMostMs: publish.atMostMs,
  };
}

/** Milliseconds until the hourly budget has admitted all of these further requests. */
export function whenSentMs({ gate }: Pick<PaceWorld, 'gate'>, requests: number): number {
  return untilRoomMs(requests, roomOf(gate.snapshot()));
}

/** Upload slots of all hosts that accept files. */
function slotsOf(fleet: FleetView | null, here: number): number {
  if (fleet === null) return here;
  const others = fleet.known().filter((host) => host.name !== fleet.self && mayTake(host));
  return others.reduce((sum, { doing }) => sum + doing.slots, here);
}
