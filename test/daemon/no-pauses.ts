import type { OperatorPauses } from '../../src/pipeline/operator-pauses.ts';

/** Nobody paused anything. */
export const noPauses: Pick<OperatorPauses, 'list' | 'holds' | 'all'> = {
  list: () => [],
  holds: () => null,
  all: () => null,
};
