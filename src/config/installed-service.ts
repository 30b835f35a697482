import { basename, join } from 'node:path';
import { variable, type Surroundings } from './surroundings.ts';

/** Where the installed services have their configurations and keys. */
const CONFIG_DIRECTORY = '/etc/dropcast';

/** The service that a configuration belongs to (systemd/dropcast.service, systemd/dropcast@.service). */
export interface InstalledService {
  /** `dropcast`, or `dropcast@NAME`; with `.service` behind it, it is the unit. */
  readonly name: string;
  /** `NAME`; null for `dropcast.service`. */
  readonly instance: string | null;
  readonly configFile: string;
  /** What its `LoadCredential=api_key:` reads; for root alone. */
  readonly keyFile: string;
  /** Its `StateDirectory=`. */
  readonly stateDir: string;
  /** Its `RuntimeDirectory=`. */
  readonly runtimeDir: string;
  /** What its unit needs for the folders, among the units of the administrator (systemd.unit(5)). */
  readonly dropInFile: string;
  /** Writes that. */
  readonly dropInCommand: string;
}

/** @param instance `NAME` of `dropcast@NAME.service`; null is `dropcast.service`. */
export function installedService(instance: string | null): InstalledService {
  const name = instance === null ? 'dropcast' : `dropcast@${instance}`;
  return {
    name,
    instance,
    configFile: join(CONFIG_DIRECTORY, `${instance ?? 'dropcast'}.yaml`),
    keyFile: join(CONFIG_DIRECTORY, instance === null ? 'api_key' : `${instance}.key`),
    stateDir: join('/var/lib', name),
    runtimeDir: join('/run', name),
    dropInFile: `/etc/systemd/system/${name}.service.d/folders.conf`,
    dropInCommand: `sudo dropcast systemd drop-in --install${instance === null ? '' : ` --instance ${instance}`}`,
  };
}

/** The service that reads this file, whoever else reads it now; null for files elsewhere. */
export function serviceOf(configFile: string): InstalledService | null {
  const instance = basename(configFile, '.yaml');
  const service = installedService(instance === 'dropcast' ? null : instance);
  return service.configFile === configFile ? service : null;
}

/** What lets a configuration of the installed service be read that may not be, to stand behind the reason; empty for others. */
export function howToRead(configFile: string, around: Surroundings): string {
  if (serviceOf(configFile) === null) return '';
  if (variable(around, 'STATE_DIRECTORY') === undefined) return '; run the command with sudo';
  // Set by systemd alone (systemd.exec(5)): in a container users and groups are others than where the file is.
  if (variable(around, 'INVOCATION_ID') === undefined) return '';
  return `; the service runs as user dropcast: \`sudo chgrp dropcast ${configFile} && sudo chmod 640 ${configFile}\``;
}
