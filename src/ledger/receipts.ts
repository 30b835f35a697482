import { join } from 'node:path';
import type { Receipts } from '../pipeline/ports.ts';
import { openAppendLog } from './append-log.ts';

/**
 * `receipts.jsonl`: the only facts that neither the disk nor the service can give back (which file has which video, and
 * where its bytes go), so that a lost ledger can be rebuilt (design 5.9). Keep it as private as the ledger.
 */
export async function openReceipts(stateDir: string): Promise<Receipts & AsyncDisposable> {
  const log = await openAppendLog(join(stateDir, 'receipts.jsonl'));
  return {
    append: (step, facts) =>
      log.append({
        v: 1,
        at: new Date().toISOString(),
        step,
        id: facts.id,
        folder: facts.folder,
        path: facts.path,
        version: facts.version,
        video_id: facts.videoId,
        upload_url: facts.uploadUrl,
        sha256: facts.sha256,
      }),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
