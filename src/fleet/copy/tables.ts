import type { Table } from './side.ts';

interface CopiedTable {
  /** The columns that tell its rows apart. */
  readonly key: readonly string[];
  /** The column that names a folder. */
  readonly folder?: string;
  /** The column with an expectation, which begins with its folder. */
  readonly expectation?: string;
  /** Columns with JSON that PostgreSQL looks into, or that is taken apart for it: even there it takes no NUL. */
  readonly json?: readonly string[];
}

export const tables: Readonly<Record<Table, CopiedTable>> = {
  file: {
    key: ['seq'],
    folder: 'folder',
    json: ['plan', 'after_ready', 'suspects', 'published', 'last_failure', 'amendment'],
  },
  history: { key: ['seq'], json: ['failure'] },
  budget: { key: ['id'] },
  create_request: { key: ['token'] },
  deletion: { key: ['video_id'] },
  identity: { key: ['id'] },
  root: { key: ['folder'], folder: 'folder' },
  first_start: { key: ['folder'], folder: 'folder' },
  listed_video: { key: ['id'] },
  listing: { key: ['id'] },
  pause: { key: ['folder'], folder: 'folder' },
  feed_due: { key: ['feed'] },
  outbox: { key: ['seq'] },
  news_memory: { key: ['name'] },
  event: { key: ['seq'] },
  expected_file: { key: ['expectation', 'file_id'], expectation: 'expectation' },
};

/** A new ledger has a row in them. */
export const bornWith: readonly Table[] = ['identity', 'budget'];
