import { basename, join } from 'node:path';

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
  };
}

/** The service that reads this file, whoever else reads it now; null for files elsewhere. */
export function serviceOf(configFile: string): InstalledService | null {
  const instance = basename(configFile, '.yaml');
  const service = installedService(instance === 'dropcast' ? null : instance);
  return service.configFile === configFile ? service : null;
}
