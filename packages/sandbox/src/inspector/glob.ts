/**
 * Returns whether the whole text matches the pattern, in which `*` matches any characters and `?` one. Pure. Unlike a
 * regular expression, it needs linear space and at most quadratic time, because patterns and texts come from outside.
 */
export function isLike(pattern: string, text: string): boolean {
  let [at, place] = [0, 0];
  let star = -1;
  let resumed = 0;
  while (place < text.length) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resumed = place;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[place])) {
      at += 1;
      place += 1;
    } else if (star !== -1) {
      at = star + 1; // let the last star match one character more
      resumed += 1;
      place = resumed;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
