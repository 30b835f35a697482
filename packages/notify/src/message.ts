import type { NewsKind } from './target.ts';

/** What one target is told at once. Names of files are as they are: whoever prints them escapes them. */
export interface Message {
  readonly type: NewsKind | 'test' | 'digest';
  /** Of something that is over: what it was. Who was not told of that is not told of this. */
  readonly of?: NewsKind;
  readonly title: string;
  readonly body: string;
  readonly level: 'info' | 'warn';
  /** Of what it is: there is at most one message a minute for each. */
  readonly cause: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** How many files or messages it is about. */
  readonly count: number;
  /** Ids of the first of the files. */
  readonly files: readonly string[];
}

/** A message on its way. */
export interface Envelope extends Message {
  /** Name of the host that sends it: of letters, digits, `.`, `_` and `-`. In a fleet, one host sends what happened on all. */
  readonly host: string;
  /** Address of the status page, where it has a name that other machines know. */
  readonly page?: string;
  /** The same whenever it is sent: who gets it twice may know. */
  readonly id: string;
  /** It was sent before, and nobody knows whether it arrived. */
  readonly isRepeat: boolean;
}
