import { createHash } from 'node:crypto';

/** Returns the tag that `service.marker` adds to the video of a row. @param id the row's id, which never changes */
export function markerOf(id: string): string {
  return `dc-${createHash('sha256').update(id).digest('hex').slice(0, 8)}`;
}

/** Whether a tag is one that dropcast sets with `service.marker`, such as `dc-1a2b3c4d`. */
export function isMarker(tag: string): boolean {
  return /^dc-[0-9a-f]{8}$/.test(tag);
}
