import { serviceProblems } from '../../systemd/check-service.ts';
import { findingFrom, needsSudo, SkippedError } from '../finding.ts';
import type { Check } from '../finding.ts';

/** What the unit has compared with what the configuration needs, and directories that are closed to the user of the service. */
export const unit: Check = {
  name: 'unit and permissions',
  run: async ({ checked, service, isRoot }) => {
    if (checked === null || service === null)
      throw new SkippedError('this is not the configuration of an installed service');
    if (!isRoot) throw new SkippedError(`this needs root: ${needsSudo}`);
    return (await serviceProblems(checked)).map(({ message, severity }) =>
      findingFrom(
        severity === 'error' ? 'problem' : 'warning',
        message,
        'the service cannot use its folders as configured',
      ),
    );
  },
};
