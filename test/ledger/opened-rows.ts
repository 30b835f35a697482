import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { portsOf } from '../../src/ledger/ports-of.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** What every store of rows answers. */
export type Rows = Pick<Ledger, keyof ReturnType<typeof portsOf>>;

/** A store without rows, of its own. */
export interface OpenedRows extends AsyncDisposable {
  readonly rows: Rows & Pick<Ledger, 'roots' | 'counter'>;
  /** Closes it and opens it again. */
  reopened(): Promise<OpenedRows['rows']>;
}

/** In a file. */
export async function openInFile(): Promise<OpenedRows> {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  let ledger = await openLedger(scratch.path);
  stack.defer(() => ledger[Symbol.asyncDispose]());
  const parts = stack.move();
  return {
    rows: ledger,
    reopened: async () => {
      await ledger[Symbol.asyncDispose]();
      return (ledger = await openLedger(scratch.path));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
