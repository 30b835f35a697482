/** The player's reads of the media file carry a mark: what it plays it reports itself, and no play must count twice. */
export function embedMediaUrl(mediaUrl: string): string {
  return `${mediaUrl}?${MARK}`;
}

/** @param target of a request, path and query */
export function isReadByEmbed(target: string): boolean {
  return target.split('?')[1] === MARK;
}

const MARK = 'via=embed';
