import { readLimits } from '../../../watch/watch-limits.ts';
import { folderHints, readWatchingMachine } from '../../configure/folder-hints.ts';
import { configOf } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

/** Whether events arrive: the limits of inotify, shares, and file systems of fstab(5) that are not mounted. */
export const watches: Check = {
  name: 'watching',
  run: async (patient) => {
    const hints = await folderHints(configOf(patient), await readWatchingMachine());
    return [...hints.map(({ message }) => watchFinding(message)), ...instanceFindings(readLimits().instances)];
  },
};

/** For a limit, adds the commands that raise it now and at every boot. */
export function watchFinding(message: string): Finding {
  const why = 'new files are found only at the next scan';
  const [, name, value] = /sysctl (fs\.inotify\.\w+)=(\d+)/.exec(message) ?? [];
  if (name !== undefined && value !== undefined)
    return { level: 'warning', what: message.replace(/: raise it.*/, ''), why, fix: sysctlFix(name, Number(value)) };
  const mount = /`(sudo mount [^`]*)`/.exec(message)?.[1];
  if (mount === undefined) return { level: 'warning', what: message, why, fix: null };
  const missing = 'dropcast would mistake the directory under the mount point for the folder';
  return { level: 'problem', what: message.replace(/: `.*/, ''), why: missing, fix: mount };
}

/** The default of many systems is 128 for all programs of a user. */
const leastInstances = 32;

/** @param instances the limit of the kernel; null: unknown */
export function instanceFindings(instances: number | null): readonly Finding[] {
  if (instances === null || instances >= leastInstances) return [];
  const what = `a user may open only ${instances} inotify instances`;
  const why = 'when other programs use them all, dropcast scans instead of watching';
  return [{ level: 'warning', what, why, fix: sysctlFix('fs.inotify.max_user_instances', 512) }];
}

function sysctlFix(name: string, value: number): string {
  return `echo '${name}=${value}' | sudo tee /etc/sysctl.d/60-dropcast-${name.split('.').at(-1)}.conf && sudo sysctl --system`;
}
