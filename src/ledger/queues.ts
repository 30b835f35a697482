import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { QueueStore } from '../pipeline/file/ports.ts';
import { priorities } from '../pipeline/file/queue.ts';
import type { Line, Queued } from '../pipeline/file/queue.ts';
import { isInLine, queueName } from './schema.ts';
import type { LedgerTables } from './schema.ts';

interface QueuedRow {
  readonly id: string;
  readonly folder: string;
  readonly queue: string;
  readonly upload_url: string | null;
  readonly is_sent: number;
}

const name = sql.raw<string>(queueName);
const inLine = sql.raw<boolean>(isInLine);

/** Lines of the history that are looked through for the last starts. */
const mostLines = 20_000;

/** Rows as the lanes need them: with 100,000 files in line, each question reads a few rows of every queue, in the order of an index. */
export function createQueues(db: Kysely<LedgerTables>): QueueStore {
  return {
    heads: async (state, each, without) => {
      const ofState = sql<boolean>`${inLine} and state = ${state}`;
      const rows = await sql<QueuedRow>`
        with recursive queue (name) as (
          select min(${name}) from file where ${ofState}
          union all
          select (select min(${name}) from file where ${ofState} and ${name} > queue.name) from queue
          where queue.name is not null
        )
        select id, folder, queue.name as queue, upload_url, sha256 is not null as is_sent from queue join file on seq in (
          select seq from file where ${ofState} and ${name} = queue.name
            and id not in (select value from json_each(${JSON.stringify(without)})) order by seq limit ${each})
        where queue.name is not null order by seq`.execute(db);
      return rows.rows.map(queued);
    },
    lastStarts: async (limit) => {
      const rows = await sql<QueuedRow>`
        select id, folder, ${name} as queue, upload_url, sha256 is not null as is_sent from (
          select seq as at, file_id from history
          where seq > (select max(seq) from history) - ${mostLines} and state = 'awaiting upload'
          order by seq desc limit ${limit})
        join file on id = file_id order by at desc`.execute(db);
      return rows.rows.map(queued);
    },
  };
}

/** See `LedgerView.before`. */
export async function placesIn(
  db: Kysely<LedgerTables>,
  ids: readonly string[],
  most: number,
  without: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ readonly id: string; readonly n: number }>`
    with wanted as (
      select seq as place, file.id, state as at, ${name} as queue
      from json_each(${JSON.stringify(ids)}) cross join file on file.id = value where ${inLine})
    select id, (select count(*) from (
      select 1 from file indexed by file_queue where ${inLine} and state = at and ${name} = queue and seq < place
        and id not in (select value from json_each(${JSON.stringify(without)})) limit ${most})) as n
    from wanted`.execute(db);
  return new Map(rows.rows.map(({ id, n }) => [id, n]));
}

/** See `LedgerView.lines`. */
export async function linesIn(db: Kysely<LedgerTables>, without: readonly string[]): Promise<readonly Line[]> {
  const rows = await sql<Pick<Line, 'state' | 'files' | 'bytes'> & { readonly queue: string }>`
    select state, ${name} as queue, count(*) as files, sum(size) as bytes from file indexed by file_queue
    where ${inLine} and id not in (select value from json_each(${JSON.stringify(without)})) group by state, ${name}`.execute(
    db,
  );
  return rows.rows.map(({ queue, ...line }) => ({ ...line, ...kindOf(queue), folder: queue.slice(2) }));
}

function queued({ id, folder, queue, upload_url: uploadUrl, is_sent: isSent }: QueuedRow): Queued {
  return { id, folder, uploadUrl, isSent: isSent === 1, ...kindOf(queue) };
}

/** The name of a queue begins with its priority and its size. */
function kindOf(queue: string): Pick<Queued, 'priority' | 'isBig'> {
  return { priority: priorities[Number(queue[0])] ?? 'normal', isBig: queue[1] === '1' };
}
