import type { Subject } from '../inspector/subject.ts';

/** A summary of a request and its answer, without secrets. */
export interface JournalEntry extends Subject {
  /** Counted from 1; also the number in 'request' events. */
  readonly number: number;
  readonly operation: string;
  readonly method: string;
  /** Without the query, and without the token of an upload address. At most 300 characters. */
  readonly path: string;
  /** Without the question mark, and without secrets. At most 300 characters. */
  readonly query: string;
  /** 0 until there is an answer, or if the client disconnected before one. */
  readonly status: number;
  /** Read from the service's clock. */
  readonly atMs: number;
  /** Real time, even while the service's clock is frozen; null while the exchange is in progress. */
  readonly durationMs: number | null;
  /** Bytes on the connection, including headers and encryption; null while the exchange is in progress. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  /** The number of the request's API key; null without a valid one. */
  readonly keyId: number | null;
  /** Kind of the planned fault that affected the request; null if none did. */
  readonly fault: string | null;
}

/** Shortens a text for the journal. Node accepts targets of 16 kB, and 100,000 of them would use too much memory. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Returns whether part of the text was omitted. */
export function isShortened(text: string): boolean {
  return text.length > MAX_TEXT;
}

const MAX_TEXT = 300;
