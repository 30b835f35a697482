import { userInfo } from 'node:os';
import type { Shell } from '../shell.ts';

/** The user who gives a command, for the rows and pauses that name one: the user behind sudo, if any. */
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
