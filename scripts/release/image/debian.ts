import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Debian's names of the processors that images are made for. */
export type Architecture = 'amd64' | 'arm64';

/** What debian.lock.json holds: `npm run lock:images` writes it. */
export interface DebianLock {
  readonly suite: string;
  /** Seconds since 1970 of the renewal, for snapshot.debian.org and as the time of files that outlive a release. */
  readonly epochSeconds: number;
  readonly packages: Readonly<Record<Architecture, readonly LockedPackage[]>>;
}

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** debian or debian-security. */
  readonly archive: string;
  /** Path of the package in its archive. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Thrown if a locked package cannot be fetched. */
export class DebianError extends Error {
  override readonly name = 'DebianError';
}

export async function readLock(): Promise<DebianLock> {
  return JSON.parse(await readFile(join(import.meta.dirname, 'debian.lock.json'), 'utf8')) as DebianLock;
}

/**
 * Fetches the locked packages of one processor: from the cache below node_modules, from Debian's mirror, or from
 * snapshot.debian.org, which keeps what the mirror has dropped.
 *
 * @param root of the repository
 * @returns the files by their names of package
 * @throws {DebianError} if no source has the locked bytes
 */
export async function debianPackages(
  root: string,
  lock: DebianLock,
  architecture: Architecture,
): Promise<Readonly<Record<string, string>>> {
  const cache = join(root, 'node_modules/.cache/dropcast-debian');
  await mkdir(cache, { recursive: true });
  const files: Record<string, string> = {};
  for (const locked of lock.packages[architecture]) {
    const file = join(cache, basename(locked.path));
    if (!(await isLocked(file, locked))) await store(await fetched(locked, lock), file);
    files[locked.name] = file;
  }
  return files;
}

async function isLocked(file: string, { sha256 }: LockedPackage): Promise<boolean> {
  const bytes = await readFile(file).catch(() => null);
  return bytes !== null && digest(bytes) === sha256;
}

async function fetched(locked: LockedPackage, lock: DebianLock): Promise<Uint8Array> {
  const failures: string[] = [];
  for (const url of sources(locked, lock)) {
    const found = await download(url, locked.sizeBytes).catch((error: unknown) => String(error));
    if (typeof found !== 'string' && digest(found) === locked.sha256) return found;
    failures.push(`${url}: ${typeof found === 'string' ? found : 'other bytes than the locked ones'}`);
  }
  throw new DebianError(`no source has ${locked.name} ${locked.version}: ${failures.join('; ')}`);
}

function sources({ archive, path }: LockedPackage, { epochSeconds }: DebianLock): readonly string[] {
  const time = new Date(epochSeconds * 1000).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return [`http://deb.debian.org/${archive}/${path}`, `https://snapshot.debian.org/archive/${archive}/${time}/${path}`];
}

/** @throws if the answer is no success or has another size than expected */
async function download(url: string, sizeBytes: number): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  const length = Number(response.headers.get('content-length'));
  if (!response.ok || length !== sizeBytes) {
    await response.body?.cancel();
    throw new Error(`${response.status} with ${length} bytes instead of ${sizeBytes}`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Another build may write the same file at the same time. */
async function store(bytes: Uint8Array, file: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, bytes);
  await rename(draft, file);
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
