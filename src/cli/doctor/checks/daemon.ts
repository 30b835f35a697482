import { stat, lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { packageManifest } from '../../../package-files.ts';
import { succeeds } from '../../../errno.ts';
import { shellWord } from '../../../shell-word.ts';
import { formatBytes } from '../../output/format.ts';
import { problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/** Checks that the daemon is running the installed version, answers on its socket and serves its page. */
export const daemon: Check = {
  name: 'daemon',
  run: async (patient) => {
    const { config, status, reach } = patient;
    if (reach === null) throw new SkippedError('no configuration says where it is');
    if (status === null) return [silent(patient)];
    const changedAt = (await stat(packageManifest()).catch(() => null))?.ctimeMs ?? 0;
    const listen = config?.status.listen ?? null;
    const isShown = listen === null || listen.port === 0 || (await isOpen(listen));
    return [
      ...versionVerdict(changedAt, status.daemon.started_at, patient),
      ...(listen === null || isShown ? [] : [noPage(`${listen.host}:${listen.port}`, patient)]),
    ];
  },
};

function silent({ silence, service }: Patient): Finding {
  const start = service === null ? 'dropcast run' : `sudo systemctl start ${service.name}`;
  const isDown = silence?.includes('not running') === true;
  return problem(
    isDown ? 'the daemon is not running' : `the daemon does not answer: ${silence ?? ''}`,
    'uploads may have stopped, and no command can check',
    isDown || service === null ? start : `journalctl -u ${service.name} -n 50`,
  );
}

/**
 * Reports program files that are newer than the running daemon.
 *
 * @param changedAt when the files were installed, in epoch milliseconds
 */
export function versionVerdict(
  changedAt: number,
  startedAt: number | null,
  { service }: Pick<Patient, 'service'>,
): readonly Finding[] {
  // In a clone, the files change all the time.
  if (service === null || startedAt === null || changedAt <= startedAt) return [];
  return [
    warning(
      'another version was installed after the daemon started',
      'the old version is still running, and commands of the new version may not understand it',
      `sudo systemctl restart ${service.name}`,
    ),
  ];
}

function noPage(address: string, { service }: Patient): Finding {
  return warning(
    `nothing answers at ${address}, where the status page should be`,
    'another program uses the port, or the unit does not allow it; the log says which',
    service === null ? 'set status.listen to a free port' : service.setupCommand,
  );
}

const timeoutMs = 3_000;

/** Whether a server is listening at an address. Sends nothing. */
export function isOpen({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}

const rotation = '/etc/logrotate.d/dropcast';

/** Checks that the failure log is rotated. */
export const failureLog: Check = {
  name: 'failure log',
  run: async ({ checked, service }) => {
    if (checked?.paths == null) throw new SkippedError('no configuration says where it is');
    const path = service?.failureLog ?? checked.paths.failureLog;
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
