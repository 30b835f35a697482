import { userOfProcess } from './read-permission.ts';

/** The user that the installed services run as (systemd/dropcast.service). */
export const SERVICE_USER = 'dropcast';

/** Whether this process runs as `SERVICE_USER`. */
export function isServiceUser(): boolean {
  return userOfProcess() === SERVICE_USER;
}

/**
 * Returns a command for the operator. The installed service accepts commands only from root, so on its host they begin
 * with `sudo`. Pure.
 */
export function operatorCommand(command: string, isService = isServiceUser()): string {
  return isService ? `sudo ${command}` : command;
}
