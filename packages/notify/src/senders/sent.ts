import { escapeControls } from '@dropcast/pages/unsafe-characters';

/** What came of sending a message. */
export type Sent =
  | {
      readonly ok: true;
      /** What the other side said, for a person. */
      readonly answer: string;
    }
  | {
      readonly ok: false;
      /** For a person. Holds no secret. */
      readonly why: string;
      /** No answer came, so it may have arrived. */
      readonly mayHaveArrived: boolean;
      /** The other side refused this message, and will again. */
      readonly isRefusal: boolean;
      /** Milliseconds to wait at least. */
      readonly retryAfterMs?: number;
    };

/** Limits of one attempt. */
export interface Attempt {
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

export function failed(why: string, more: Partial<Omit<Extract<Sent, { ok: false }>, 'ok' | 'why'>> = {}): Sent {
  return { ok: false, why, mayHaveArrived: false, isRefusal: false, ...more };
}

const mostCharacters = 200;

/** What another program said, fit for one line of a log: its first line, without the secrets that it was given. */
export function quoted(text: string, secrets: readonly (string | null | undefined)[]): string {
  const hidden = secrets.reduce<string>(
    (rest, secret) =>
      secret === null || secret === undefined || secret.length < 4 ? rest : rest.replaceAll(secret, '[secret]'),
    text,
  );
  const [line = ''] = hidden.trim().split('\n');
  return escapeControls(line.trim()).slice(0, mostCharacters);
}
