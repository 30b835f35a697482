import type { Check } from './finding.ts';
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
import { unit } from './checks/unit.ts';
import { watches } from './checks/watches.ts';

/** All of them, in the order in which a person reads them: what keeps everything from working comes first. */
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
