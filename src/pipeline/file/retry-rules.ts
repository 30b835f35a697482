import type { Failure, FailureKind } from './failure.ts';
import type { ReasonCode } from './reasons.ts';

/**
 * Which kind of retry restarts a file. `any`: the cause may have been fixed. `named`: the operator decides about this
 * file in particular. `forced`: nothing can have fixed the cause. `none`: the file continues automatically.
 */
export type RetryRule =
  | { readonly takes: 'any' }
  | {
      readonly takes: 'named' | 'forced' | 'none';
      /** Why a bulk retry skips this file, as the end of `3 files left: …`. */
      readonly because: string;
    };

/** Returns which kind of retry restarts a file that stopped because of this failure. Pure. */
export function retryRule(failure: Failure | null): RetryRule {
  if (failure === null) return any;
  const rule = ofKind[failure.kind];
  return rule === 'see code' ? (codes[failure.code] ?? any) : rule;
}

const any: RetryRule = { takes: 'any' };

const ofKind: Readonly<Record<FailureKind, RetryRule | 'see code'>> = {
  transient: any,
  offline: any,
  throttled: any,
  suspended: any,
  'address dead': any,
  permanent: 'see code',
  gone: { takes: 'named', because: 'their videos were deleted on the service' },
  // Only `--state skipped` or a name selects a duplicate, and both are deliberate.
  duplicate: any,
  vanished: any,
  changed: any,
  unclear: 'see code',
  mismatch: { takes: 'named', because: 'they differ from the checksums of their sender, or these cannot be read' },
  // A new version of dropcast may have fixed the bug.
  bug: any,
};

const ofCode: Readonly<Record<ReasonCode, RetryRule>> = {
  flawed: { takes: 'forced', because: 'empty, incomplete or not a video, and not changed since' },
  unreadable: { takes: 'none', because: 'dropcast may not read them; they continue once it may' },
  closed_directory: {
    takes: 'none',
    because: 'directories that dropcast may not open; their files are accepted once it may',
  },
  existing: {
    takes: 'named',
    because: 'there before dropcast watched their folder: `dropcast adopt` shows what to do',
  },
  ignored: { takes: 'named', because: 'they are ignored' },
  taken_back: { takes: 'named', because: 'they were taken back' },
  no_rule: any,
  sidecar: any,
  // The channel of the rule may exist by now. A deleted video has the kind `gone`.
  not_found: any,
  processing_failed: any,
  gave_up: any,
  not_received: any,
  not_confirmed: { takes: 'named', because: 'all of them may have arrived: check the service first' },
  video_id_taken: any,
  import_in_doubt: { takes: 'named', because: 'the import may have succeeded: check the service first' },
  upload_address_dead: any,
  over_size_limit: { takes: 'named', because: 'too large: they continue once the limit is higher' },
};

/** The same rules, typed for lookup by any code. Codes issued by the service have no rule. */
const codes: Readonly<Record<string, RetryRule | undefined>> = ofCode;
