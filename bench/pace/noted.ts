/** A video as the service of the benchmark noted it. */
export interface Noted {
  readonly title: string;
  /** When its create request came: epoch milliseconds, with fractions. */
  readonly createdAtMs: number;
  receivedBytes: number;
  status: 'pending' | 'ready';
}
