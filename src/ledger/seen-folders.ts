import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SeenFolders } from '../pipeline/file/ports.ts';

/** Whether a row is of a folder whose files one host can read. Not by an index: what is asked beside it has one. */
export function isSeen({ names, below, without }: SeenFolders, column = 'folder'): RawBuilder<boolean> {
  const folder = sql.raw(column);
  const isBelow = sql`substr(${folder}, 1, length(${below})) = ${below}`;
  const isLeftOut = without.length === 0 ? sql`` : sql` and ${folder} not in (${sql.join(without)})`;
  const isNamed = names.length === 0 ? sql`` : sql` or ${folder} in (${sql.join(names)})`;
  return sql<boolean>`((${isBelow}${isLeftOut})${isNamed})`;
}
