import type { NewsKind } from './target.ts';

/** One message. File names are unescaped; senders escape them as their medium requires. */
export interface Message {
  readonly type: NewsKind | 'test' | 'digest';
  /** Kind of a trouble that is over. Targets that do not want this kind do not get this message either. */
  readonly of?: NewsKind;
  readonly title: string;
  readonly body: string;
  readonly level: 'info' | 'warn';
  /** Identifies the subject. Each subject gets at most one message a minute. */
  readonly cause: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Number of files or messages that the message covers. */
  readonly count: number;
  /** Ids of the first few files. */
  readonly files: readonly string[];
  /** Where on the status page to look: a path with its query, without the first `/`; absent: the overview. */
  readonly view?: string;
}

/** A message ready to send. */
export interface Envelope extends Message {
  /** Name of the sending host: letters, digits, `.`, `_` and `-`. In a fleet, one host sends the news of all. */
  readonly host: string;
  /** Address of the right view of the status page, if the page has a name that other machines can resolve. */
  readonly page?: string;
  /** Stays the same when the message is repeated, so that receivers can recognise it. */
  readonly id: string;
  /** Whether the message was sent before without an answer, so that it may have arrived. */
  readonly isRepeat: boolean;
}

/** Returns the text of a message. The last line names the host and the address of its status page. Pure. */
export function textOf({ title, body, host, page }: Envelope): string {
  return `${body === '' ? title : body}\ndropcast on ${host}${page === undefined ? '' : `: ${page}`}`;
}
