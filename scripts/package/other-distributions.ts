import type { PackagedFile } from './packaged-file.ts';

/** The files of the Debian package where other distributions have them. What only Debian reads is left out. */
export function forOtherDistributions(files: readonly PackagedFile[]): readonly PackagedFile[] {
  return files
    .filter(({ path }) => !path.startsWith('usr/share/lintian/'))
    .map((file) => ({ ...file, path: file.path.replace('/zsh/vendor-completions/', '/zsh/site-functions/') }));
}

/** Of a maintainer script, without its first line: as the body of a scriptlet or of a function. */
export function bodyOf(script = ''): string {
  return script.replace(/^#!.*\n/, '').trimEnd();
}

export const SUMMARY = 'Uploads the videos that appear in watched folders';
