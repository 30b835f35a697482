import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Where a running sandbox is, for who has its data folder: `sandbox.json` in it, for its owner alone. */
export type Announcement = z.output<typeof announcement>;

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

/** Whole or not at all: who reads it while it is written reads the one before. */
export async function announce(dataDir: string, facts: Announcement): Promise<void> {
  const path = pathIn(dataDir);
  await rm(`${path}.new`, { force: true }); // the mode below is for a new file only
  await writeFile(`${path}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(`${path}.new`, path);
}

export async function withdrawAnnouncement(dataDir: string): Promise<void> {
  await rm(pathIn(dataDir), { force: true });
}

/** @returns undefined when there is none, or none that can be read. One of a sandbox that was killed is still there. */
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
