/** What they write shares a commit. More at once would keep everything else waiting. */
const mostAtOnce = 50;

/**
 * Does the same work for many files, some of them side by side, in their order.
 *
 * @returns what the work returned, in the order of the items
 * @throws what the work threw first, once all that was begun has ended; nothing is begun after it
 */
export async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += mostAtOnce) {
    const ended = await Promise.allSettled(items.slice(from, from + mostAtOnce).map(work));
    for (const one of ended) {
      if (one.status === 'rejected') throw one.reason;
      results.push(one.value);
    }
  }
  return results;
}
