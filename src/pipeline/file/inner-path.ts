import { posix } from 'node:path';

/**
 * Whether a path, joined to a folder, stays inside that folder. Symbolic links are detected when the path is opened.
 * Pure.
 *
 * @param path relative to the folder, with `/`, from a row, a receipt or a message
 */
export function isInnerPath(path: string): boolean {
  const isPlain = path !== '' && path !== '.' && !path.endsWith('/') && !path.includes('\0');
  return isPlain && !posix.isAbsolute(path) && posix.normalize(path) === path && path.split('/')[0] !== '..';
}
