import type { Fate } from '../lifecycle.ts';

/** What is planned to go wrong. */
export class Faults {
  /** How the processing of this video is to end, against what its bytes say. */
  fateOf(_videoId: string): Fate | undefined {
    return undefined;
  }
}
