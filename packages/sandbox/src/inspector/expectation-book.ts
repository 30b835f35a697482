import type { ServerResponse } from 'node:http';
import type { Events } from '../events.ts';
import type { Journal } from '../http/journal.ts';
import type { InspectedRequest } from './details.ts';
import type { RegisteredExpectations } from './expectation.ts';
import { judge, type Judged } from './judged.ts';
import { outcomeOf, type Outcome } from './outcome.ts';

interface BookParts {
  readonly journal: Journal;
  readonly events: Pick<Events, 'emit'>;
}

/** The expectations that are registered, held against each request as it comes. What the journal forgets, they do not. */
export class ExpectationBook {
  readonly #parts: BookParts;
  #registered: RegisteredExpectations | undefined;
  #after = 0;
  #judged: Judged[] = [];

  /** @param parts the journal that reports requests, and the events that announce changes */
  constructor(parts: BookParts) {
    this.#parts = parts;
    parts.journal.whenEnded((request) => this.#note(request));
  }

  get registered(): RegisteredExpectations | undefined {
    return this.#registered;
  }

  /** Only requests with higher numbers are held against them. */
  get after(): number {
    return this.#after;
  }

  /** Whether more requests came than are held against the expectations: the first 100,000. */
  get isFull(): boolean {
    return this.#judged.length >= MOST_JUDGED;
  }

  /** Replaces all expectations. Requests that arrive from now on are held against them. */
  register(expectations: RegisteredExpectations): void {
    this.#registered = expectations;
    this.#after = this.#parts.journal.lastNumber;
    this.#judged = [];
    this.#parts.events.emit('expectations.changed', '');
  }

  clear(): void {
    if (this.#registered === undefined) return;
    this.#registered = undefined;
    this.#judged = [];
    this.#parts.events.emit('expectations.changed', '');
  }

  /** Whether they hold for the requests so far; undefined if nothing is registered. */
  outcome(): Outcome | undefined {
    return this.#outcomeWith(this.#parts.journal.underWay().filter(isJudgeable));
  }

  /** Whether the request may be refused once its body is known. */
  mayRefuse(response: ServerResponse): boolean {
    return this.#registered?.refuse === true && this.#parts.journal.requestOf(response) !== undefined;
  }

  /** @returns why this request is to be refused, in a sentence; undefined if it is not */
  refusalOf(response: ServerResponse): string | undefined {
    if (this.#registered?.refuse !== true) return undefined;
    const request = this.#parts.journal.requestOf(response);
    if (!request || request.number <= this.#after) return undefined;
    const others = this.#parts.journal
      .underWay()
      .filter((other) => other.number !== request.number && isJudgeable(other));
    const outcome = this.#outcomeWith([...others, request]);
    const broken = outcome?.expectations.filter(({ brokenBy }) => brokenBy.includes(request.number)) ?? [];
    const isUnexpected = outcome?.unexpected.some(({ number }) => number === request.number) === true;
    const reasons = [
      ...broken.map(({ name, problems }) => `it breaks ${name}: ${problems.join(' ')}`),
      ...(isUnexpected ? ['no expectation is about it.'] : []),
    ];
    return reasons.length === 0
      ? undefined
      : `The sandbox refuses request #${request.number}, because ${reasons.join(' And ')}`;
  }

  #outcomeWith(more: readonly InspectedRequest[]): Outcome | undefined {
    const registered = this.#registered;
    if (!registered) return undefined;
    const fresh = more.filter(({ number }) => number > this.#after).map((request) => judge(registered, request));
    const all = [...this.#judged, ...fresh].toSorted((one, other) => one.number - other.number);
    return outcomeOf(registered, all);
  }

  /** Near misses of the first thousand are enough to find a mistake. */
  #note(request: InspectedRequest): void {
    if (!this.#registered || request.number <= this.#after || this.isFull) return;
    this.#judged.push(judge(this.#registered, request, this.#judged.length >= MOST_WITH_MISSES));
  }
}

/** Why full expectations cannot be checked. */
export const TOO_MANY =
  'More requests came than expectations are held against, 100,000: register the expectations anew, for fewer requests.';

const MOST_JUDGED = 100_000;
const MOST_WITH_MISSES = 1000;

/** A body that is still arriving could look like another. */
function isJudgeable({ status, details }: InspectedRequest): boolean {
  return status !== 0 || (details !== undefined && details.receivedMs !== null);
}
