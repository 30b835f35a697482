import type { HistoryLine } from '../../../ledger/view.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import type { Daemon } from '../../daemon.ts';

/** The answer to `GET /facts`. */
export interface FactsView {
  readonly v: 1;
  readonly files: readonly { readonly facts: Facts; readonly history: readonly HistoryLine[] }[];
}

const mostFiles = 200;

/** `GET /facts`: the rows of the newest files that need a person, as the machine sees them. Addresses that let anybody send stay here. */
export async function factsInNeed({ ledger }: Pick<Daemon, 'ledger'>): Promise<FactsView> {
  const rows = await ledger.list({ states: ['failed', 'held'], limit: mostFiles, newestFirst: true });
  const files = await Promise.all(
    rows.map(async (facts) => ({
      facts: { ...facts, uploadUrl: facts.uploadUrl === null ? null : 'https://redacted.invalid/' },
      history: await ledger.history(facts.id),
    })),
  );
  return { v: 1, files };
}
