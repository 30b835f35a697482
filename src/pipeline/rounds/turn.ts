/** What only one host of a fleet may do at a time is done by the one whose turn it is. */
export interface Turn {
  /** Fires when the turn goes to another host; null: another host has it. */
  signal(): AbortSignal | null;
}

/** Of a single host. */
export const alwaysOurs: Turn = { signal: () => never };

const never = new AbortController().signal;
