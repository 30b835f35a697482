import type { Daemon } from '../../../src/daemon/daemon.ts';
import { createOutcomes } from '../../../src/status/page/files/bulk-commands.ts';
import { createTargetTests } from '../../../src/status/page/target-tests.ts';
import { createTrials } from '../../../src/status/page/trials.ts';
import type { PageWorld } from '../../../src/status/page/world.ts';

/** What a view is made from, for a reader who may only look. */
export function someWorld(daemon: Daemon, more: Pick<PageWorld, 'now'> & Partial<PageWorld>): PageWorld {
  return {
    daemon,
    picture: daemon.picture,
    mayChange: false,
    theme: undefined,
    outcomes: createOutcomes(),
    targetTests: createTargetTests(async () => []),
    trials: createTrials(),
    ...more,
  };
}
