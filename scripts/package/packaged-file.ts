import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A file of the package, as it will be on the machine of the user. */
export interface PackagedFile {
  /** From the root of the file system, without the first slash. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Permission bits; 0644 when left out. */
  readonly mode?: number;
}

/** Directories that not everybody may look into. dpkg takes the mode from here, postinst gives them their group. */
const directoryModes: Readonly<Record<string, number>> = { 'etc/dropcast': 0o750 };

/** Writes the tree with the given times and modes, whatever the umask is. */
export async function writeTree(files: readonly PackagedFile[], root: string, epochSeconds: number): Promise<void> {
  for (const { path, content, mode = 0o644 } of files) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await chmod(file, mode);
    await utimes(file, epochSeconds, epochSeconds);
  }
  // From the inside out: what is written into a directory changes its time.
  for (const directory of directoriesOf(files).toReversed()) {
    await chmod(join(root, directory), directoryModes[directory] ?? 0o755);
    await utimes(join(root, directory), epochSeconds, epochSeconds);
  }
}

/** All directories of the files, outer ones first, `.` among them. */
export function directoriesOf(files: readonly PackagedFile[]): readonly string[] {
  const all = new Set<string>(['.']);
  for (const { path } of files) {
    for (let directory = dirname(path); directory !== '.'; directory = dirname(directory)) all.add(directory);
  }
  return [...all].toSorted();
}
