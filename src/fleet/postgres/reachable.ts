import { LedgerUnavailableError } from '../../pipeline/file/store-errors.ts';
import { nameOf } from './client-config.ts';
import type { PostgresPlace } from './client-config.ts';
import { troubleOf } from './why-away.ts';
import type { Trouble } from './why-away.ts';

/**
 * Tracks whether the server is answering, since when it has not been, and when to try again. The pause is random, 0.1
 * to 2 s, so that not all hosts meet a starting server at the same time.
 */
export class Reachable {
  readonly #place: PostgresPlace;
  readonly #outage: Outage | null;
  #hasAnswered = false;
  #away: Away | null = null;
  #failures = 0;
  #notBefore = 0;
  #outages = 0;

  /** @param outage notified of each outage after the first answer */
  constructor(place: PostgresPlace, outage: Outage | null = null) {
    this.#place = place;
    this.#outage = outage;
  }

  /** When the server stopped answering, in epoch milliseconds; null: it is answering. */
  get awaySince(): number | null {
    return this.#away?.since ?? null;
  }

  /** Which server is not answering, since when, and why, as a sentence without a full stop; null: it is answering. */
  get whyAway(): string | null {
    return this.#away === null ? null : this.#sentence(this.#away);
  }

  /** Number of outages that have ended. */
  get outages(): number {
    return this.#outages;
  }

  answered(): void {
    if (this.#away !== null) this.#outages += 1;
    if (this.#away !== null && this.#hasAnswered) this.#outage?.ended(this.#away.since);
    this.#hasAnswered = true;
    this.#away = null;
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Milliseconds until the next attempt to connect. */
  get pauseMs(): number {
    return Math.max(0, this.#notBefore - performance.now());
  }

  /** @throws {LedgerUnavailableError} if it is too early for the next attempt */
  refuseTooEarly(): void {
    if (this.#away !== null && this.pauseMs > 0) throw this.#unavailable(this.#away.trouble, undefined);
  }

  /** Records a failed connection and lengthens the pause. */
  notConnected(): void {
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#notBefore = performance.now() + longestMs * (0.5 + Math.random() / 2);
  }

  /**
   * Translates an error and records an outage.
   *
   * @param outages number of outages that had ended when the attempt began; if another outage has ended since, the
   *   failure belongs to that one
   * @returns the error to throw: `LedgerUnavailableError` if the database refuses, otherwise the error itself
   */
  translated(error: unknown, outages: number): unknown {
    const trouble = troubleOf(error, this.#place);
    if (trouble === null) return error;
    const isLate = this.#away === null && outages < this.#outages;
    const isNew = trouble.reason === 'away' && this.#away === null && !isLate;
    if (trouble.reason === 'away' && !isLate) this.#away = { since: this.#away?.since ?? Date.now(), trouble };
    const unavailable = this.#unavailable(trouble, error);
    if (isNew && this.#hasAnswered) this.#outage?.began(unavailable.message);
    return unavailable;
  }

  #unavailable({ reason, why }: Trouble, cause: unknown): LedgerUnavailableError {
    const away = this.#away;
    if (reason !== 'away' || away === null)
      return new LedgerUnavailableError(reason, { cause, sentence: `${nameOf(this.#place)}: ${why}` });
    return new LedgerUnavailableError(reason, { cause, since: away.since, sentence: this.#sentence(away) });
  }

  #sentence({ since, trouble }: Away): string {
    return `${nameOf(this.#place)} has not answered since ${clockTime(since)}: ${trouble.why}`;
  }
}

interface Away {
  readonly since: number;
  readonly trouble: Trouble;
}

/** Notified when the server stops answering, and when it answers again. */
export interface Outage {
  began(sentence: string): void;
  /** @param since epoch milliseconds */
  ended(since: number): void;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Formats a time as `14:02`, with the date if it is another day. */
function clockTime(at: number): string {
  const shown = (time: number): string => new Date(time).toLocaleString('sv');
  const [day, time = ''] = shown(at).split(' ');
  const [today] = shown(Date.now()).split(' ');
  return `${day === today ? '' : `${day} `}${time.slice(0, 5)}`;
}
