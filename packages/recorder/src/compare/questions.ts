import type { RecordedExchange } from '../recording.ts';
import {
  beforeDeletion,
  doesTell,
  hasOnlyUnknownFields,
  orderOf,
  queryOf,
  repeated,
  operationOf,
} from './telling-exchanges.ts';

/** A question that the specification leaves open and that no single answer settles. */
interface Question {
  readonly place: string;
  /** What the contract assumes. */
  readonly assumed: string;
  /** Returns what the exchanges show; null if they show nothing. */
  answer(exchanges: readonly RecordedExchange[]): Told | null;
}

interface Told {
  readonly isAsAssumed: boolean;
  readonly what: string;
  /** Numbers of the exchanges that show it. */
  readonly exchanges: readonly number[];
}

export const questions: readonly Question[] = [
  {
    place: 'videos.list order',
    assumed: 'newest first',
    answer: (exchanges) => {
      const told = exchanges.flatMap((exchange) => {
        const order = operationOf(exchange)?.name === 'videos.list' ? orderOf(exchange) : null;
        return order === null ? [] : [{ order, number: exchange.number }];
      });
      const [first] = told;
      if (first === undefined) return null;
      const isAsAssumed = told.every(({ order }) => order === 'newest first');
      const what = [...new Set(told.map(({ order }) => order))].join(' and ');
      return { isAsAssumed, what, exchanges: told.map(({ number }) => number) };
    },
  },
  {
    place: 'videos.list per_page over 100',
    assumed: 'refused with 422',
    answer: (exchanges) =>
      statusesOf(
        exchanges.filter(
          (exchange) =>
            operationOf(exchange)?.name === 'videos.list' && Number(queryOf(exchange).get('per_page')) > 100,
        ),
        [422],
      ),
  },
  {
    place: 'uploads.put second file',
    assumed: 'refused with 409',
    answer: (exchanges) => statusesOf(repeated(beforeDeletion(exchanges), 'uploads.put'), [409]),
  },
  {
    place: 'videos.delete second time',
    assumed: 'answered with 404',
    answer: (exchanges) => statusesOf(repeated(exchanges, 'videos.delete'), [404]),
  },
  {
    place: 'videos.create unknown field',
    assumed: 'refused with 422',
    answer: (exchanges) =>
      statusesOf(
        exchanges.filter((exchange) => {
          const operation = operationOf(exchange);
          return operation?.name === 'videos.create' && hasOnlyUnknownFields(exchange, operation);
        }),
        [422],
      ),
  },
];

function statusesOf(exchanges: readonly RecordedExchange[], assumed: readonly number[]): Told | null {
  const answered = exchanges.filter(({ answer }) => answer !== undefined && doesTell(answer.status));
  if (answered.length === 0) return null;
  const statuses = [...new Set(answered.map(({ answer }) => answer?.status ?? 0))];
  return {
    isAsAssumed: statuses.every((status) => assumed.includes(status)),
    what: `answered with ${statuses.join(', ')}`,
    exchanges: answered.map(({ number }) => number),
  };
}
