import type { Trace } from './shim.ts';

/**
 * Pure: requests that left while bytes of the ledger or the receipts were not synced yet. After a power cut the service would know
 * more than the disk. Only for runs with one file: of several, one may write while another sends. The first receipt of a run does not
 * count: it is the counter of the folder's mark (docs/decisions/0095), which is written while the file continues, and no request depends on it.
 */
export function sentUnsynced({ calls }: Trace): readonly string[] {
  const unsynced = new Set<string>();
  const counter = calls.findIndex((call) => /^write .*\/state\/receipts\.jsonl$/.test(call));
  return calls.flatMap((call, n) => {
    const [kind = '', path = ''] = call.split(/ (.*)/);
    const isDurable = /\/state\/(?:ledger\.db(?:-wal)?|receipts\.jsonl)$/.test(path);
    if (isDurable && kind === 'write' && n !== counter) unsynced.add(path);
    if (kind === 'fsync') unsynced.delete(path);
    return kind === 'send' && unsynced.size > 0 ? [`call ${n + 1}: ${[...unsynced].join(', ')}`] : [];
  });
}
