import type { Arrival } from '../../src/intake/arrival.ts';
import { somePlan, someVersion } from '../pipeline/some-facts.ts';

/** A file that came in, and that a rule takes. */
export function someArrival(other: Partial<Arrival> = {}): Arrival {
  return {
    folder: '/inbox',
    path: 'clip.mp4',
    version: someVersion,
    flaw: null,
    sourceUrl: null,
    route: { kind: 'take', plan: somePlan },
    onDuplicate: 'skip',
    onChange: 'upload',
    afterReady: { kind: 'keep' },
    owner: null,
    leaving: null,
    isWanted: false,
    ...other,
  };
}
