/** Whether a tag is one that dropcast sets with `service.marker`, such as `dc-1a2b3c4d`. */
export function isMarker(tag: string): boolean {
  return /^dc-[0-9a-f]{8}$/.test(tag);
}
