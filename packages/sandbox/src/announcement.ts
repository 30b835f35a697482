import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * How to reach a running sandbox from its own machine. Stored as `sandbox.json` in the data folder, readable only by
 * its owner.
 */
type Announcement = z.output<typeof announcement>;

const address = z.url({ protocol: /^https?$/ });
const announcement = z.object({
  v: z.literal(1),
  pid: z.int().min(1),
  base_url: address,
  admin_url: address,
  admin_token: z.string(),
  page_url: address,
  ca_path: z.string().optional(),
});

/** Writes the announcement atomically: a concurrent reader sees the previous one. */
export async function announce(dataDir: string, facts: Announcement): Promise<void> {
  const path = pathIn(dataDir);
  await rm(`${path}.new`, { force: true }); // the mode below is for a new file only
  await writeFile(`${path}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(`${path}.new`, path);
}

export async function withdrawAnnouncement(dataDir: string): Promise<void> {
  await rm(pathIn(dataDir), { force: true });
}

/** @returns undefined if the announcement is missing or unreadable. A killed sandbox leaves a stale one behind. */
export async function readAnnouncement(dataDir: string): Promise<Announcement | undefined> {
  try {
    return announcement.safeParse(JSON.parse(await readFile(pathIn(dataDir), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'sandbox.json');
}
