const ending = '.dropcast.json';

/** Returns the path of a video's link file, which says where the video is watched: `clip.mp4.dropcast.json`. */
export function linkFileOf(path: string): string {
  return `${path}${ending}`;
}

/** Whether a path is that of a link file. Watchers leave them alone (`left-alone-names.ts`). */
export function isLinkFile(path: string): boolean {
  return path.toLowerCase().endsWith(ending);
}
