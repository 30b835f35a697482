/**
 * The state of one day's expectation:
 *
 * - `expected`: the files are not there yet, and there is time left.
 * - `arrived`: all files arrived in the folder on time.
 * - `live`: all files went live on time.
 * - `missing`: the deadline has passed, and not all files are in the folder.
 * - `late`: all files are in the folder, but not all were live by the deadline, or it is certain that they will not be.
 * - `recovered`: late, but now as required.
 */
export type ExpectationState = 'expected' | 'arrived' | 'live' | 'missing' | 'late' | 'recovered';

/** An expectation for a folder, or a file that misses its `ready_by`, as shown by status, web page and JSON. Times are epoch milliseconds. */
export interface ExpectationView {
  /** Stable while the expectation does not change. */
  readonly key: string;
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly match: string;
  /** For example `2026-11-22`, in the time zone of the expectation. */
  readonly day: string;
  readonly from: number;
  /** The deadline, without the grace period. */
  readonly by: number;
  readonly count: number;
  readonly arrived: number;
  readonly live: number;
  readonly until: 'live' | 'arrived' | 'ready';
  readonly state: ExpectationState;
  /** What makes it late for certain; null: it is not certain, or the deadline has passed. */
  readonly why: string | null;
}

/**
 * Renames the folder in the key of an expectation. The key is a JSON array that begins with the folder:
 * `["/srv/in","*.mp4",…]`.
 *
 * @returns the key with the folder renamed; any other text unchanged
 */
export function withFolder(key: string, named: (folder: string) => string): string {
  const [folder, ...rest] = partsOf(key);
  return typeof folder === 'string' ? JSON.stringify([named(folder), ...rest]) : key;
}

function partsOf(key: string): readonly unknown[] {
  try {
    const parts = JSON.parse(key) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
