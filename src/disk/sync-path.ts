import { open } from 'node:fs/promises';

/** Makes a file, or the names in a directory, durable: a new file is only as durable as its name. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
