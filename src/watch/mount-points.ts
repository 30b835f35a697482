/**
 * The mount point of a path.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 * @returns null when it is on the root file system
 */
export function mountPointOf(path: string, mountinfo: string): string | null {
  const points = mountinfo.split('\n').flatMap((line) => unescaped(line.split(' ')[4] ?? ''));
  const [longest = '/'] = points
    .filter((point) => point === path || path.startsWith(point.endsWith('/') ? point : `${point}/`))
    .toSorted((one, other) => other.length - one.length);
  return longest === '/' ? null : longest;
}

/**
 * Whether a directory of a file system is bound to this path, as systemd and containers do it, and not a whole file system mounted.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 */
export function isBoundAt(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  // The last one covers those before it.
  const [, , , top] = mounts.findLast(([, , , , point = '']) => unescaped(point) === path) ?? [];
  return top !== undefined && top !== '/';
}

/** Spaces, line breaks and backslashes appear as `\040`; bytes of UTF-8 unchanged. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
