/**
 * Whether a name means 'not finished' or 'not for others', in any segment of the path: hidden files, partial downloads,
 * editors' locks, file servers' leftovers. Case is ignored.
 *
 * @param path relative to the watched folder, with `/`
 */
export function isTemporaryName(path: string): boolean {
  return path.split('/').some((segment) => TEMPORARY.test(segment));
}

// Hidden names cover .~lock.*, .nfs*, .syncthing.*, .smbdelete* and editors' swap files as well.
const BEGINNINGS = ['\\.', '~\\$', '~syncthing~', '_unpack_'];
const ENDINGS = [
  ...['part', 'partial', 'tmp', 'temp', 'crdownload', 'download', 'filepart', '!ut', '!qb', 'aria2', 'swp'].map(
    (extension) => `\\.${extension}`,
  ),
  '~',
];
const WHOLE = [
  'thumbs\\.db',
  'desktop\\.ini',
  '@eadir',
  'lost\\+found',
  '\\$recycle\\.bin',
  'system volume information',
];

const TEMPORARY = new RegExp(`^(?:${BEGINNINGS.join('|')})|(?:${ENDINGS.join('|')})$|^(?:${WHOLE.join('|')})$`, 'iu');
