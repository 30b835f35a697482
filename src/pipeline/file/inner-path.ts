import { posix } from 'node:path';

/**
 * Pure: whether a path, joined to a folder, names something in that folder. Links in the path are detected when it is
 * opened.
 *
 * @param path relative to the folder, with `/`, from a row, a receipt or a message
 */
export function isInnerPath(path: string): boolean {
  const isPlain = path !== '' && path !== '.' && !path.endsWith('/') && !path.includes('\0');
  return isPlain && !posix.isAbsolute(path) && posix.normalize(path) === path && path.split('/')[0] !== '..';
}
