/** The judge: the most requests of any hour that begins with one of them. @param sent when each left, by a clock that nobody set */
export function fullestHour(sent: readonly number[], hourMs = 3_600_000): number {
  const times = sent.toSorted((one, other) => one - other);
  let [most, first] = [0, 0];
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? 0) > hourMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
