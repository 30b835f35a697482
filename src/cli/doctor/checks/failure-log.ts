import { lstat, stat } from 'node:fs/promises';
import { succeeds } from '../../../errno.ts';
import { shellWord } from '../../../shell-word.ts';
import { formatBytes } from '../../output/format.ts';
import { SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

const rotation = '/etc/logrotate.d/dropcast';

/** Checks that the failure log is rotated. */
export const failureLog: Check = {
  name: 'failure log',
  run: async ({ checked, service }) => {
    if (checked?.paths == null) throw new SkippedError('no configuration says where it is');
    // The service's log directory is known only in its own environment.
    const path = service === null ? checked.paths.failureLog : `/var/log/${service.name}/failures.jsonl`;
    const found = await lstat(path).catch(() => null);
    if (found?.isSymbolicLink() === true) return [linkedLog(path, service !== null)];
    return failureLogVerdict({
      path,
      size: found?.size ?? 0,
      isRotated: service === null ? null : await succeeds(stat(rotation)),
    });
  },
};

export function linkedLog(path: string, isService: boolean): Finding {
  return warning(
    `${path} is a symbolic link, so no failure is written there`,
    'a link could redirect the lines into any file; to keep them on another disk, mount or link the directory',
    `${isService ? 'sudo ' : ''}rm ${shellWord(path)}`,
  );
}

const largeBytes = 50 * 2 ** 20;

/** @param log.isRotated null if no logrotate configuration is expected to cover the log */
export function failureLogVerdict(log: {
  readonly path: string;
  readonly size: number;
  readonly isRotated: boolean | null;
}): readonly Finding[] {
  const { path, size, isRotated } = log;
  if (isRotated !== false && size < largeBytes) return [];
  const why = 'it grows until the disk is full';
  const install = `sudo install -m 644 /usr/share/doc/dropcast/examples/logrotate ${rotation}`;
  if (isRotated === false) return [warning(`${rotation} is missing: nothing rotates ${path}`, why, install)];
  const move = `mv ${shellWord(path)} ${shellWord(`${path}.1`)}    # dropcast starts a new one`;
  return [warning(`${path} has ${formatBytes(size)}`, why, isRotated === null ? move : `sudo ${move}`)];
}
