/** Magic numbers of statfs(2) of file systems that others change behind the kernel's back: shares, and FUSE, which may be anything. */
const names: ReadonlyMap<number, string> = new Map([
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
 * What kind of share a file system is, or null for a disk of this machine. Events on a share tell only what this machine does, and its
 * kernel answers for some seconds from memory how long a file is.
 *
 * @param magic `f_type` of statfs(2)
 */
export function remoteKind(magic: bigint): string | null {
  // Some architectures sign it.
  return names.get(Number(BigInt.asUintN(32, magic))) ?? null;
}
