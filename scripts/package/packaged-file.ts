import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A file of the package, as it will be on the machine of the user. */
export interface PackagedFile {
  /** From the root of the file system, without the first slash. With one at the end it is a directory. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Permission bits; 0644 when left out, 0755 for a directory. */
  readonly mode?: number;
}

/** Writes the tree with the given times and modes, whatever the umask is. */
export async function writeTree(files: readonly PackagedFile[], root: string, epochSeconds: number): Promise<void> {
  for (const { path, content, mode = 0o644 } of files.filter((file) => !isDirectory(file))) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await chmod(file, mode);
    await utimes(file, epochSeconds, epochSeconds);
  }
  // From the inside out: what is written into a directory changes its time.
  for (const directory of directoriesOf(files).toReversed()) {
    const own = files.find(({ path }) => path === `${directory}/`);
    await mkdir(join(root, directory), { recursive: true });
    await chmod(join(root, directory), own?.mode ?? 0o755);
    await utimes(join(root, directory), epochSeconds, epochSeconds);
  }
}

/** All directories of the files, outer ones first, `.` among them. */
export function directoriesOf(files: readonly PackagedFile[]): readonly string[] {
  const all = new Set<string>(['.']);
  for (const { path } of files) {
    for (
      let directory = path.endsWith('/') ? path.slice(0, -1) : dirname(path);
      directory !== '.';
      directory = dirname(directory)
    )
      all.add(directory);
  }
  return [...all].toSorted();
}

/** An empty one, which dpkg keeps as long as the package is installed. */
export function isDirectory({ path }: PackagedFile): boolean {
  return path.endsWith('/');
}
