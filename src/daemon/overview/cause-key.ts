import type { Facts } from '../../pipeline/file/facts.ts';

/**
 * Pure: why a file came to a stop, as a short word that does not change: the code of its failure, with the field for what the service
 * refused (`invalid_request.tags`). The ledger finds rows by the same word (src/ledger/cause-name.ts); a test compares both.
 */
export function causeKeyOf({ disposal, lastFailure }: Pick<Facts, 'disposal' | 'lastFailure'>): string {
  const code = lastFailure?.code ?? 'unknown';
  if (disposal === 'waiting') return `local.${code}`;
  if (lastFailure?.kind === 'gone') return 'deleted_on_service';
  if (lastFailure === null || !refusals.has(lastFailure.status ?? 0)) return code;
  const [, said = ''] = lastFailure.message.split(`${code}: `, 2);
  const field = /^([a-zA-Z_]+):/.exec(said)?.[1];
  return field === undefined ? code : `${code}.${field}`;
}

/** Answers of the service to what was asked, not to who asked. */
const refusals: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);
