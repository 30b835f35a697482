/**
 * Returns the mount point that a path is on.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 * @returns null if the path is on the root file system
 */
export function mountPointOf(path: string, mountinfo: string): string | null {
  const points = mountinfo.split('\n').flatMap((line) => unescaped(line.split(' ')[4] ?? ''));
  const [longest = '/'] = points
    .filter((point) => point === path || path.startsWith(point.endsWith('/') ? point : `${point}/`))
    .toSorted((one, other) => other.length - one.length);
  return longest === '/' ? null : longest;
}

/**
 * Whether the path is a bind mount, as used by systemd and containers, rather than the mount of a whole file system.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 */
export function isBoundAt(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  // Later mounts hide earlier ones at the same path.
  const [, , , top] = mounts.findLast(([, , , , point = '']) => unescaped(point) === path) ?? [];
  return top !== undefined && top !== '/';
}

/** Decodes a mountinfo field. Spaces, line breaks and backslashes are escaped as in `\040`; UTF-8 bytes are not. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** statfs(2) magic numbers of file systems that others may change: shares, and FUSE, which may be anything. */
const shareNames: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x786f4256, 'a VirtualBox share'],
  [0xbacbacbc, 'a VMware share'],
]);

/**
 * Returns the kind of share that a file system is; null for a local disk. On a share, events report only changes made
 * on this machine, and the kernel caches file sizes for some seconds.
 *
 * @param magic `f_type` of statfs(2)
 */
export function remoteKind(magic: bigint): string | null {
  // `f_type` is signed on some architectures.
  return shareNames.get(Number(BigInt.asUintN(32, magic))) ?? null;
}
