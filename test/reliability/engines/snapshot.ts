import { fileColumns } from '../../../src/ledger/row.ts';
import type { JournalEntry, ServiceRecord } from '../simulation/judge.ts';
import { sha256Of } from '../simulation/machine/disk.ts';
import type { Inode } from '../simulation/machine/inode.ts';
import { named, namesOf, ownerOf } from './names.ts';
import type { Row, Rows, Table } from './tables.ts';

/** What a life left behind, part by part, each a list of lines that are the same on both engines. */
export type Snapshot = Readonly<Record<string, readonly string[]>>;

/** The same as it was left. */
export interface Left {
  readonly tables: Readonly<Record<Table, Rows>>;
  readonly journal: readonly JournalEntry[];
  /** First titles of videos, by id. */
  readonly titles: ReadonlyMap<string, string>;
  /** Titles of those that were made before anybody was killed, in their order. */
  readonly ordered: readonly string[];
  readonly videos: readonly ServiceRecord[];
  readonly news: readonly string[];
  /** Why a scene did not end. */
  readonly unfinished: readonly string[];
  /** Lines of the failure log. */
  readonly failures: readonly string[];
  readonly receipts: readonly string[];
  readonly disk: readonly (readonly [path: string, Inode])[];
}

/**
 * Pure: what must be equal, each thing about one file or video in its order. Left out, or given other names, is only:
 *
 * - moments: a host of a fleet gets the turn to ask for statuses and to publish 10 s after one that was killed lost it, so that all that
 *   follows is later. Whether there is a moment is compared. With them goes what only time decides: which of two files was first once
 *   somebody was killed, because nobody takes what the dead one held until its lease is over; how often a
 *   status was asked for, how many publishes of one feed became one, and what is said about such a feed or about waiting
 * - ids of files and videos, and tokens of create requests, which are drawn by lot: they are named after what they are about
 * - the name of the host before a folder, which only rows of a fleet have
 * - numbers of inodes: each engine has other files in its state directory
 * - the id of the ledger, and the marks of folders, which are made of it; the receipts of their counter, one a minute
 * - `seq`, which counts writes that were rolled back too on PostgreSQL
 * - checksums, which only SQLite has, and the columns that only PostgreSQL has for its indexes (`derivedOf`) and its feeds
 * - the budget, the jobs and the hosts of a fleet: no table of SQLite is like them
 */
export function snapshotOf(left: Left): Snapshot {
  const { tables, journal, titles, ordered, videos, unfinished, news, failures, receipts, disk } = left;
  const names = namesOf(tables.file, titles);
  const told = (lines: readonly string[]): readonly string[] => byOwner(lines.map((line) => named(line, names)));
  const rows = Object.entries(tables).map(([table, all]): [string, readonly string[]] => [
    `table ${table}`,
    told(all.filter(isCompared).map((row) => JSON.stringify(withoutOwn(table as Table, row)))),
  ]);
  const published = journal.filter(({ what }) => what === 'publish').map(({ video }) => video ?? '');
  return {
    ...Object.fromEntries(rows),
    service: told(
      journal
        .filter(({ what }) => isAboutBytes.has(what))
        .map(({ what, video, said = '' }) => `${video}: ${what} ${said}`),
    ),
    videos: told(videos.map(({ deletedAt, ...video }) => JSON.stringify(seen(video, deletedAt !== null)))),
    'order of creates': ordered,
    published: [...new Set(published)].toSorted(),
    unfinished,
    news: told(news).filter((line) => ownerOf(line) !== ''),
    'failure log': told(failures),
    receipts: told(receipts.filter((line) => !line.includes('"counter":')).map(withoutInode)),
    disk: disk
      .filter(([path]) => !path.endsWith('/.dropcast'))
      .map(([path, { data }]) => `${path} ${sha256Of(data)}`)
      .toSorted(),
  };
}

const isAboutBytes: ReadonlySet<string> = new Set([
  'create',
  'put begins',
  'put ends',
  'body taken',
  'body refused',
  'amend',
  'delete',
]);

function seen({ id, title, status, sha256, bodies }: Omit<ServiceRecord, 'deletedAt'>, isDeleted: boolean): object {
  return { id, title, status, sha256, bodies, isDeleted };
}

/** Those about one thing stay in their order; those about nothing have none. */
function byOwner(lines: readonly string[]): readonly string[] {
  const owned = Map.groupBy(lines, ownerOf);
  return [...owned.keys()].toSorted().flatMap((owner) => {
    const some = owned.get(owner) ?? [];
    return owner === '' ? some.toSorted() : some;
  });
}

function withoutOwn(table: Table, row: Row): object {
  if (table === 'root')
    return { ...row, record: withoutInode((row['record'] ?? '').replace(/"mark":"[0-9a-f]*"/, '')) };
  const own: readonly string[] = table === 'file' ? fileColumns : Object.keys(row);
  return Object.fromEntries(own.filter((name) => !ofOneEngine.has(name)).map((name) => [name, row[name]]));
}

/** How many requests a day began with is part of the budget. */
const isCompared = ({ name }: Row): boolean => name !== 'requests at the start of days';

const ofOneEngine: ReadonlySet<string> = new Set(['seq', 'checksum', 'revision', 'ino']);

function withoutInode(json: string): string {
  return json.replaceAll(/"(?:inode|ino)":"\d*",?/g, '');
}
