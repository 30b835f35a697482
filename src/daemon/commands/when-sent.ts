import { untilRoomMs } from '../../pipeline/estimate.ts';
import type { Daemon } from '../daemon.ts';
import { paceOf } from '../../view/outlook/pace.ts';

/** How long until the hourly budget has let the last of some more requests through, milliseconds. */
export function whenSentMs(daemon: Daemon, requests: number): number {
  return untilRoomMs(requests, paceOf(daemon).room);
}
