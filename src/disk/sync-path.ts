import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes a file, or the names in a directory, durable: a new file is only as durable as its name. */
export async function syncPath(path: string): Promise<void> {
  // A pipe that somebody put there is not waited for.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
