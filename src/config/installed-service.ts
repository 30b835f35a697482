import { basename, join } from 'node:path';
import { variable, type Environment } from './environment.ts';

/** Directory for the configurations and keys of installed services. */
const CONFIG_DIRECTORY = '/etc/dropcast';

/** An installed service and its files (systemd/dropcast.service, systemd/dropcast@.service). */
export interface InstalledService {
  /** `dropcast` or `dropcast@NAME`: the unit name without `.service`. */
  readonly name: string;
  /** The instance `NAME`; null for `dropcast.service`. */
  readonly instance: string | null;
  readonly configFile: string;
  /** Source file of `LoadCredential=api_key:`, readable only by root. */
  readonly keyFile: string;
  /** The unit's `StateDirectory=`. */
  readonly stateDir: string;
  /** In the unit's `LogsDirectory=`, which only the service's own environment names. */
  readonly failureLog: string;
  /** The unit's `RuntimeDirectory=`. */
  readonly runtimeDir: string;
  /** Drop-in that gives the unit access to the folders, in the administrator's unit directory (systemd.unit(5)). */
  readonly dropInFile: string;
  /**
   * Command that gives the service everything its configuration needs: permissions, drop-in, and a restart if either
   * changed.
   */
  readonly setupCommand: string;
}

/** @param instance `NAME` of `dropcast@NAME.service`; null for `dropcast.service`. */
export function installedService(instance: string | null): InstalledService {
  const name = instance === null ? 'dropcast' : `dropcast@${instance}`;
  return {
    name,
    instance,
    configFile: join(CONFIG_DIRECTORY, `${instance ?? 'dropcast'}.yaml`),
    keyFile: join(CONFIG_DIRECTORY, instance === null ? 'api_key' : `${instance}.key`),
    stateDir: join('/var/lib', name),
    failureLog: join('/var/log', name, 'failures.jsonl'),
    runtimeDir: join('/run', name),
    dropInFile: `/etc/systemd/system/${name}.service.d/folders.conf`,
    setupCommand: `sudo dropcast setup${instance === null ? '' : ` --instance ${instance}`}`,
  };
}

/** The service that this file configures, whoever reads it; null for files elsewhere. */
export function serviceOf(configFile: string): InstalledService | null {
  const instance = basename(configFile, '.yaml');
  const service = installedService(instance === 'dropcast' ? null : instance);
  return service.configFile === configFile ? service : null;
}

/** Advice on getting access to an installed service's configuration, to append to an error; empty for other files. */
export function howToRead(configFile: string, environment: Environment): string {
  if (serviceOf(configFile) === null) return '';
  if (variable(environment, 'STATE_DIRECTORY') === undefined)
    return '; run the command with sudo, or ask for membership in the group dropcast';
  // Only systemd sets this variable (systemd.exec(5)). Users and groups in a container differ from those outside.
  if (variable(environment, 'INVOCATION_ID') === undefined) return '';
  return `; the service runs as user dropcast: \`sudo chgrp dropcast ${configFile} && sudo chmod 640 ${configFile}\``;
}
