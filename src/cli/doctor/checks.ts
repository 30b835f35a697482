import { access } from './checks/access.ts';
import { backups, ledger } from './checks/ledger.ts';
import { configuration, unit } from './checks/configuration.ts';
import { connection, service } from './checks/service.ts';
import { daemon, failureLog } from './checks/daemon.ts';
import { disk } from './checks/disk.ts';
import { files } from './checks/files.ts';
import { fleet } from './checks/fleet.ts';
import { mounts, watches } from './checks/folders.ts';
import { notifications } from './checks/notifications.ts';
import type { Check } from './finding.ts';

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
