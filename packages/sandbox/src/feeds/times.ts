/** RFC 822 as RSS 2.0 wants it, with a year of four digits and the zone `GMT`. */
export function rssTime(atMs: number): string {
  return new Date(atMs).toUTCString();
}

/** `2026-01-31T12:00:00+00:00`: the form that Roku's feeds spell out, without fractions and with a numeric zone. */
export function zonedTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** `2026-01-31`, UTC. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Whole seconds, at least one: fractions and zeros are refused by readers. Undefined when nothing is known. */
export function wholeSeconds(durationS: number | null): number | undefined {
  return durationS === null ? undefined : Math.max(1, Math.round(durationS));
}
