import type { NewsKind } from './target.ts';

/** One message. File names are raw; senders escape them as their medium needs. */
export interface Message {
  readonly type: NewsKind | 'test' | 'digest';
  /** For a trouble that is over: its kind. Targets that do not want that kind do not get this message either. */
  readonly of?: NewsKind;
  readonly title: string;
  readonly body: string;
  readonly level: 'info' | 'warn';
  /** Identifies the subject; each has at most one message a minute. */
  readonly cause: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Number of files or messages that it covers. */
  readonly count: number;
  /** Ids of the first few files. */
  readonly files: readonly string[];
}

/** A message ready to send. */
export interface Envelope extends Message {
  /** Name of the sending host: letters, digits, `.`, `_` and `-`. In a fleet, one host sends the news of all. */
  readonly host: string;
  /** Address of the status page, if it has a name that other machines know. */
  readonly page?: string;
  /** Stays the same in repeats, so that receivers can recognise them. */
  readonly id: string;
  /** It was sent before without an answer, so it may have arrived. */
  readonly isRepeat: boolean;
}
