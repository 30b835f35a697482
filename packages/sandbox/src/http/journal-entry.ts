import type { Subject } from '../inspector/subject.ts';

/** A request and its answer in short, without secrets. */
export interface JournalEntry extends Subject {
  /** Counted from 1, and in the events of the type 'request'. */
  readonly number: number;
  readonly operation: string;
  readonly method: string;
  /** Without the query, and without the token of an upload address. At most 300 characters. */
  readonly path: string;
  /** Without the question mark, and without secrets. At most 300 characters. */
  readonly query: string;
  /** 0 while there is no answer, or if the client disconnected before one. */
  readonly status: number;
  /** By the service's clock. */
  readonly atMs: number;
  /** In real time, even while the service's clock is frozen; null while the exchange is in progress. */
  readonly durationMs: number | null;
  /** Bytes on the connection, with heads and encryption; null while the exchange is in progress. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  /** The number of the request's API key; null without a valid one. */
  readonly keyId: number | null;
  /** The kind of the planned fault that hit it. */
  readonly fault: string | null;
}
