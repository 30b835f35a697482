import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import type { ColumnOf } from '../output/table.ts';
import type { Shell } from '../shell.ts';

/** A list in the form that people read. */
interface Listed<T> {
  readonly items: readonly T[];
  readonly columns: readonly ColumnOf<T>[];
  /** Sentence for an empty list. */
  readonly none: string;
  /** Maximum number of items that were requested. */
  readonly limit?: number;
}

/** Prints a list: its document with `--json`, otherwise a table, or a sentence on stderr if it is empty. */
export function printList<T>(
  document: object,
  { shell, json }: { readonly shell: Pick<Shell, 'stdout' | 'stderr' | 'env'>; readonly json: boolean | undefined },
  { items, columns, none, limit }: Listed<T>,
): void {
  if (json === true) return printJson(document, shell.stdout);
  if (items.length === 0) shell.stderr.write(`${none}\n`);
  else shell.stdout.write(tableOf(items, columns, shell));
  if (items.length === limit)
    shell.stderr.write(`Stopped at ${counted(limit, 'video')}; there may be more: raise --limit.\n`);
}
