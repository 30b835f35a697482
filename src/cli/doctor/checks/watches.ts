import { readLimits } from '../../../watch/kernel.ts';
import { folderHints, readWatchingMachine } from '../../configure/folder-hints.ts';
import { configOf, problem, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

/** Checks that events can arrive: inotify limits, network shares, and unmounted file systems from fstab(5). */
export const watches: Check = {
  name: 'watching',
  run: async (patient) => {
    const hints = await folderHints(configOf(patient), await readWatchingMachine());
    return [...hints.map(({ message }) => watchFinding(message)), ...instanceFindings(readLimits().instances)];
  },
};

/** Makes a finding. For an inotify limit, adds the commands that raise it now and at every boot. */
export function watchFinding(message: string): Finding {
  const why = 'new files are found only at the next scan';
  const [, name, value] = /sysctl (fs\.inotify\.\w+)=(\d+)/.exec(message) ?? [];
  if (name !== undefined && value !== undefined)
    return warning(message.replace(/: raise it.*/, ''), why, sysctlFix(name, Number(value)));
  const mount = /`(sudo mount [^`]*)`/.exec(message)?.[1];
  if (mount === undefined) return warning(message, why);
  const missing = 'dropcast would mistake the directory under the mount point for the folder';
  return problem(message.replace(/: `.*/, ''), missing, mount);
}

/** Minimum number of inotify instances. Many systems default to 128 for all of a user's programs. */
const leastInstances = 32;

/** @param instances the kernel's limit; null if unknown */
export function instanceFindings(instances: number | null): readonly Finding[] {
  if (instances === null || instances >= leastInstances) return [];
  const what = `a user may open only ${instances} inotify instances`;
  const why = 'when other programs use them all, dropcast scans instead of watching';
  return [warning(what, why, sysctlFix('fs.inotify.max_user_instances', 512))];
}

function sysctlFix(name: string, value: number): string {
  return `echo '${name}=${value}' | sudo tee /etc/sysctl.d/60-dropcast-${name.split('.').at(-1)}.conf && sudo sysctl --system`;
}
