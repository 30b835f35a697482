import { userOfProcess } from './read-permission.ts';

/** The user of the installed services (systemd/dropcast.service). */
export const SERVICE_USER = 'dropcast';

/** Whether this process runs as that user. */
export function isServiceUser(): boolean {
  return userOfProcess() === SERVICE_USER;
}

/**
 * Pure: a command for the operator. The installed service takes commands from root alone, so there it begins with
 * `sudo`.
 */
export function operatorCommand(command: string, isService = isServiceUser()): string {
  return isService ? `sudo ${command}` : command;
}
