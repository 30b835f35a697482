import { serviceProblems } from '../systemd/check-service.ts';
import { access } from './checks/access.ts';
import { backups } from './checks/backups.ts';
import { configuration } from './checks/configuration.ts';
import { connection } from './checks/connection.ts';
import { daemon } from './checks/daemon.ts';
import { disk } from './checks/disk.ts';
import { failureLog } from './checks/failure-log.ts';
import { files } from './checks/files.ts';
import { fleet } from './checks/fleet.ts';
import { ledger } from './checks/ledger.ts';
import { mounts } from './checks/mounts.ts';
import { notifications } from './checks/notifications.ts';
import { service } from './checks/service.ts';
import { watches } from './checks/watches.ts';
import { type Check, SkippedError, findingFrom, needsSudo } from './finding.ts';

/** Compares the unit with what the configuration needs, and finds directories that are closed to the service's user. */
const unit: Check = {
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

/** All checks by importance: whatever blocks everything comes first. */
export const checks: readonly Check[] = [
  configuration,
  unit,
  daemon,
  service,
  connection,
  access,
  mounts,
  watches,
  disk,
  fleet,
  ledger,
  backups,
  failureLog,
  notifications,
  files,
];
