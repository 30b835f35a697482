import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes a file, or the names in a directory, durable. A new file is only as durable as its name. */
export async function syncPath(path: string): Promise<void> {
  // O_NONBLOCK avoids waiting for a FIFO at the path.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
