import { userInfo } from 'node:os';
import type { Shell } from '../shell.ts';

/** The user to record for a command: the user behind sudo, if any. */
export function userName({ env }: Pick<Shell, 'env'>): string {
  const { SUDO_USER: behind } = env;
  if (behind !== undefined && behind !== '') return behind;
  try {
    return userInfo().username;
  } catch {
    // The user ID has no name, as in a container.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
