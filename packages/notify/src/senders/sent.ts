import { escapeControls } from '@dropcast/pages/unsafe-characters';

/** The result of sending a message. */
export type Sent =
  | {
      readonly ok: true;
      /** Answer of the other side, for a person. */
      readonly answer: string;
    }
  | {
      readonly ok: false;
      /** Reason for a person, without secrets. */
      readonly why: string;
      /** True without an answer: the message may have arrived. */
      readonly mayHaveArrived: boolean;
      /** The other side refused this message and would refuse it again. */
      readonly isRefusal: boolean;
      /** Shortest wait in milliseconds. */
      readonly retryAfterMs?: number;
    };

/** Limits of one attempt. */
export interface Attempt {
  readonly timeoutMs: number;
  /** Ends the attempt at once. */
  readonly signal: AbortSignal;
}

export function failed(why: string, more: Partial<Omit<Extract<Sent, { ok: false }>, 'ok' | 'why'>> = {}): Sent {
  return { ok: false, why, mayHaveArrived: false, isRefusal: false, ...more };
}

const mostCharacters = 200;

/** The first line of another program's text, safe for one line of a log and without the given secrets. */
export function quoted(text: string, secrets: readonly (string | null | undefined)[]): string {
  const hidden = secrets.reduce<string>(
    (rest, secret) =>
      secret === null || secret === undefined || secret.length < 4 ? rest : rest.replaceAll(secret, '[secret]'),
    text,
  );
  const [line = ''] = hidden.trim().split('\n');
  return escapeControls(line.trim()).slice(0, mostCharacters);
}
