import type { Switches } from '@dropcast/sandbox/profiles/switch-table';
import type { RecordedExchange } from '../recording.ts';
import { departuresOf, refusalDepartures, type Departure } from './departures.ts';
import { seenForms, type SeenForm } from './forms.ts';
import { bodyPlace, fieldPlace, pointsOfContract, statusPlace, type Point } from './points.ts';
import { questions } from './questions.ts';
import { settledPoints, switchesOf, type SettledPoint } from './settled-points.ts';
import { jsonOf, operationOf, pathOf } from './telling-exchanges.ts';

/** The result of comparing a service with the contract. */
export interface Comparison {
  /** Number of compared requests. */
  readonly exchanges: number;
  /** Deviations from what the specification states. Either the service or the specification is wrong. */
  readonly violated: readonly Finding[];
  /** Deviations from what the contract assumes. */
  readonly contradicted: readonly Finding[];
  /** Fields that the contract does not know. */
  readonly unknown: readonly Finding[];
  /** Assumptions of the contract that the service meets. */
  readonly confirmed: readonly Finding[];
  /** Assumptions of the contract that no exchange shows. */
  readonly unseen: readonly Pick<Finding, 'place' | 'says'>[];
  /** Requests without a complete answer. */
  readonly broken: readonly { readonly exchange: number; readonly what: string }[];
  /** How the service settles the points for which the sandbox has switches, as far as the exchanges show. */
  readonly settled: readonly SettledPoint[];
  /** Switches that make a sandbox behave like the service, for `startSandbox`; without defaults and unclear points. */
  readonly switches: Partial<Switches>;
  /** Things that the service does and the specification does not mention. */
  readonly forms: readonly SeenForm[];
}

export interface Finding {
  /** For example `videos.create HTTP status`, `videos.list data[].title` or `feeds.publish 429`. */
  readonly place: string;
  /** What the contract states; null if nothing. */
  readonly says: string | null;
  /** What the service does; null if it follows the contract. */
  readonly what: string | null;
  /** Numbers of the exchanges that show the finding. */
  readonly exchanges: readonly number[];
}

/** Compares the recorded exchanges with openapi.yaml, point by point. */
export function compare(exchanges: readonly RecordedExchange[]): Comparison {
  const tally = new Tally();
  for (const exchange of exchanges) tally.note(exchange);
  return tally.result(exchanges);
}

class Tally {
  readonly #points = new Map(pointsOfContract().map((point) => [point.place, point]));
  /** Exchanges by place. */
  readonly #seen = new Map<string, Set<number>>();
  /** Exchanges by place and rule, or by place and deviation. */
  readonly #departures = new Map<string, { readonly departure: Departure; readonly exchanges: Set<number> }>();

  note(exchange: RecordedExchange): void {
    const operation = operationOf(exchange);
    const { answer, number } = exchange;
    if (answer === undefined || exchange.broken !== undefined) return;
    if (operation === undefined) {
      if (answer.status >= 400 || exchange.method === 'OPTIONS') return;
      const place = `${exchange.method} ${pathOf(exchange.target)}`;
      return this.#depart({ place, what: `is answered with ${answer.status}`, isNew: true }, number);
    }
    const isSuccess = answer.status >= 200 && answer.status < 300;
    if (isSuccess) {
      this.#see(statusPlace(operation), number);
      if (exchange.method !== 'HEAD') this.#see(bodyPlace(operation), number);
      const json = jsonOf(exchange);
      for (const path of pathsIn(json)) this.#see(fieldPlace(operation, path), number);
      for (const path of pathsIn({ data: json })) this.#see(fieldPlace(operation, path), number);
    }
    const departures = isSuccess ? departuresOf(operation, exchange) : refusalDepartures(operation, exchange);
    for (const departure of departures) this.#depart(departure, number);
  }

  result(exchanges: readonly RecordedExchange[]): Comparison {
    const all = [...this.#departures.values()].map((entry) => ({
      ...entry,
      finding: this.#finding(entry.departure, entry.exchanges),
    }));
    const isGiven = (departure: Departure): boolean => sourceOf(departure, this.#points) === 'given';
    const told = questions.map((question) => ({ question, told: question.answer(exchanges) }));
    const ofQuestions = (isAsAssumed: boolean): readonly Finding[] =>
      told.flatMap(({ question: { place, assumed: says }, told: answer }) =>
        answer === null || answer.isAsAssumed !== isAsAssumed
          ? []
          : [{ place, says, what: isAsAssumed ? null : answer.what, exchanges: answer.exchanges }],
      );
    const departing = new Set(
      all.filter(({ departure }) => departure.isNew !== true).map(({ departure }) => departure.place),
    );
    const settled = settledPoints(exchanges);
    const assumed = [...this.#points.values()].filter(({ source }) => source === 'assumed');
    const known = all.filter(({ departure }) => departure.isNew !== true);
    return {
      exchanges: exchanges.length,
      violated: known.filter(({ departure }) => isGiven(departure)).map(({ finding }) => finding),
      contradicted: [
        ...known.filter(({ departure }) => !isGiven(departure)).map(({ finding }) => finding),
        ...ofQuestions(false),
      ],
      unknown: all.filter(({ departure }) => departure.isNew === true).map(({ finding }) => finding),
      confirmed: [
        ...assumed.flatMap(({ place, says }): Finding[] => {
          const seen = this.#seen.get(place);
          return seen === undefined || departing.has(place) ? [] : [{ place, says, what: null, exchanges: [...seen] }];
        }),
        ...ofQuestions(true),
      ],
      unseen: [
        ...assumed
          .filter(({ place }) => !this.#seen.has(place) && !departing.has(place))
          .map(({ place, says }) => ({ place, says })),
        ...told.flatMap(({ question: { place, assumed: says }, told: answer }) =>
          answer === null ? [{ place, says }] : [],
        ),
      ],
      broken: exchanges.flatMap(({ number, broken }) =>
        broken === undefined ? [] : [{ exchange: number, what: broken }],
      ),
      settled,
      switches: switchesOf(settled),
      forms: seenForms(exchanges),
    };
  }

  #see(place: string, number: number): void {
    const seen = this.#seen.get(place) ?? new Set();
    this.#seen.set(place, seen.add(number));
  }

  #depart(departure: Departure, number: number): void {
    const key = `${departure.place}\n${departure.rule ?? departure.what}`;
    const entry = this.#departures.get(key) ?? { departure, exchanges: new Set() };
    entry.exchanges.add(number);
    this.#departures.set(key, entry);
  }

  #finding({ place, what }: Departure, exchanges: ReadonlySet<number>): Finding {
    return { place, says: this.#points.get(place)?.says ?? null, what, exchanges: [...exchanges] };
  }
}

/** Returns whether a deviation concerns a statement of the specification or an assumption of the contract. */
function sourceOf({ place, what }: Departure, points: ReadonlyMap<string, Point>): Point['source'] {
  const [operation = '', status = ''] = place.split(' ');
  // The fields are given only for answers that the specification shows, which `GET /videos/:id` is not (api-spec
  // section 4.5).
  if (what === 'is missing' && points.get(`${operation} body`)?.source === 'assumed') return 'assumed';
  const known = points.get(place)?.source;
  if (known !== undefined) return known;
  // All refusals have the same form, and these statuses have codes (api-spec section 7). The specification does not
  // show upload answers.
  const hasCode = ['401', '403', '404', '429', '500'].includes(status);
  return operation === 'uploads.put' || (place.endsWith('error.code') && !hasCode) ? 'assumed' : 'given';
}

/** Returns the path of every value inside a JSON value. */
function pathsIn(value: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => pathsIn(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, held]) => [[...path, name], ...pathsIn(held, [...path, name])]);
}
