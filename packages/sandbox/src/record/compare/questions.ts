import type { RecordedExchange } from '../recording.ts';
import { jsonOf, operationOf, pathOf } from './exchanges.ts';

/** A question that the specification leaves open and that no single answer tells. */
export interface Question {
  readonly place: string;
  /** What the contract assumes. */
  readonly assumed: string;
  /** What the exchanges say; null if they say nothing. */
  answer(exchanges: readonly RecordedExchange[]): Told | null;
}

export interface Told {
  readonly isAsAssumed: boolean;
  readonly what: string;
  /** Numbers of the exchanges that tell. */
  readonly exchanges: readonly number[];
}

export const questions: readonly Question[] = [
  {
    place: 'videos.list order',
    assumed: 'newest first',
    answer: (exchanges) => {
      const told = exchanges.flatMap((exchange) => {
        const order = operationOf(exchange)?.name === 'videos.list' ? orderOf(timesIn(jsonOf(exchange))) : null;
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
    answer: (exchanges) => statusesOf(exchanges.filter(hasUnknownField), [422]),
  },
];

/** What follows a success of the same operation on the same target. */
function repeated(exchanges: readonly RecordedExchange[], name: string): readonly RecordedExchange[] {
  const done = new Set<string>();
  return exchanges.filter((exchange) => {
    if (operationOf(exchange)?.name !== name) return false;
    const isRepeated = done.has(exchange.target);
    if (isSuccess(exchange)) done.add(exchange.target);
    return isRepeated;
  });
}

/** Uploads to videos that were there: an address of one that was deleted tells nothing about a second file. */
function beforeDeletion(exchanges: readonly RecordedExchange[]): readonly RecordedExchange[] {
  const deleted = new Set<string | undefined>();
  return exchanges.filter((exchange) => {
    const id = pathOf(exchange.target)
      .split('/')
      .at(operationOf(exchange)?.name === 'uploads.put' ? 2 : 3);
    if (operationOf(exchange)?.name === 'videos.delete' && isSuccess(exchange)) deleted.add(id);
    return !deleted.has(id);
  });
}

function isSuccess({ answer }: RecordedExchange): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300;
}

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

/** Who has no right, asks too often or finds the service ill, learns nothing about it. */
function doesTell(status: number): boolean {
  return status < 500 && ![401, 403, 408, 429].includes(status);
}

const knownFields: ReadonlySet<string> = new Set(['title', 'description', 'channel_id', 'tags', 'source_url']);

function hasUnknownField(exchange: RecordedExchange): boolean {
  if (operationOf(exchange)?.name !== 'videos.create') return false;
  const { body } = exchange.request;
  if (body === undefined || !('json' in body) || typeof body.json !== 'object' || body.json === null) return false;
  // Without a title it may be refused for that.
  const hasTitle = 'title' in body.json && typeof body.json.title === 'string';
  return hasTitle && Object.keys(body.json).some((name) => !knownFields.has(name));
}

function queryOf({ target }: RecordedExchange): URLSearchParams {
  return new URLSearchParams(target.split('?')[1]);
}

function timesIn(json: unknown): readonly number[] {
  const list = typeof json === 'object' && json !== null && 'data' in json ? json.data : json;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const time = typeof item === 'object' && item !== null && 'created_at' in item ? item.created_at : null;
    const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return Number.isNaN(ms) ? [] : [ms];
  });
}

function orderOf(times: readonly number[]): 'newest first' | 'oldest first' | 'no order by time' | null {
  const pairs = times.slice(1).map((time, index) => Math.sign(time - (times[index] ?? 0)));
  if (pairs.every((sign) => sign === 0)) return null;
  if (pairs.every((sign) => sign <= 0)) return 'newest first';
  return pairs.every((sign) => sign >= 0) ? 'oldest first' : 'no order by time';
}
