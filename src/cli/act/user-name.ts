import { userInfo } from 'node:os';
import type { Shell } from '../shell.ts';

/** Who gives a command, for the rows and pauses that say so: the one behind sudo, if there is one. */
export function userName({ env }: Pick<Shell, 'env'>): string {
  const { SUDO_USER: behind } = env;
  if (behind !== undefined && behind !== '') return behind;
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as in a container.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
