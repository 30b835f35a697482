import { escapeControls } from '@dropcast/pages/unsafe-characters';

/** The result of sending a message. */
export type Sent =
  | {
      readonly ok: true;
      /** Answer of the other side, for people. */
      readonly answer: string;
    }
  | {
      readonly ok: false;
      /** Reason for people, without secrets. */
      readonly why: string;
      /** True if no answer arrived, so that the message may have been delivered. */
      readonly mayHaveArrived: boolean;
      /** Whether the other side refused this message and would refuse it again. */
      readonly isRefusal: boolean;
      /** Minimum wait in milliseconds. */
      readonly retryAfterMs?: number;
    };

/** Limits of one attempt. */
export interface Attempt {
  readonly timeoutMs: number;
  /** Ends the attempt immediately. */
  readonly signal: AbortSignal;
}

export function failed(why: string, more: Partial<Omit<Extract<Sent, { ok: false }>, 'ok' | 'why'>> = {}): Sent {
  return { ok: false, why, mayHaveArrived: false, isRefusal: false, ...more };
}

const mostCharacters = 200;

/** Returns the first line of another program's text, safe for a single log line and without the given secrets. */
export function quoted(text: string, secrets: readonly (string | null | undefined)[]): string {
  const hidden = secrets.reduce<string>(
    (rest, secret) =>
      secret === null || secret === undefined || secret.length < 4 ? rest : rest.replaceAll(secret, '[secret]'),
    text,
  );
  const [line = ''] = hidden.trim().split('\n');
  return escapeControls(line.trim()).slice(0, mostCharacters);
}
