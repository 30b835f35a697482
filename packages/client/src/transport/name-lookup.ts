import { lookup } from 'node:dns/promises';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

const running = new Map<string, Promise<readonly LookupAddress[]>>();

/**
 * Resolves a name with the system's resolver. Simultaneous calls for a name share one query, because the resolver runs
 * on only two threads of the process (libuv: half of its four): with a slow name server, the fifth of five connections
 * would wait for three queries in turn.
 */
export const resolveName: Resolve = (hostname, { family, hints }) => {
  const key = JSON.stringify([hostname, family, hints]);
  const query = running.get(key) ?? lookup(hostname, { family, hints, all: true }).finally(() => running.delete(key));
  running.set(key, query);
  return query;
};

/** Makes the `lookup` of a connection from `find`. */
export function lookupWith(find: Resolve): LookupFunction {
  return (hostname, options, callback) => void answer(() => find(hostname, options), options.all === true, callback);
}

async function answer(
  find: () => Promise<readonly LookupAddress[]>,
  isForAll: boolean,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  const found = await find().catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return callback(found, []);
  const [first] = found;
  if (first === undefined)
    return callback(Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' }), []);
  return isForAll ? callback(null, [...found]) : callback(null, first.address, first.family);
}
