import type { FailureKind } from '../../../src/pipeline/file/failure.ts';
import type { FileState } from '../../../src/pipeline/file/facts.ts';
import type { ReasonCode } from '../../../src/pipeline/file/reasons.ts';

/** Closed sets of words that documents, failures.jsonl and metrics carry where their type is only `string`. */
export interface ContractWords {
  readonly 'failure class': FailureKind;
  readonly 'file state': FileState;
  readonly 'reason code': ReasonCode;
}
