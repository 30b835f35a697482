import { lookup } from 'node:dns/promises';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

import { codeOf, ConnectionError, UploadRejectedError } from '../errors.ts';
import { ownAddresses as askOwnAddresses } from './own-addresses.ts';
import { isAddress, isLoopback, isNearer, reachHere } from './reach.ts';
import type { Reach } from './reach.ts';
import { longestAddress } from '../wire/fields.ts';

/** Finds all addresses of a name. */
export type Resolve = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

/** An upload address that may be sent to. */
export interface UploadTarget {
  readonly url: URL;
  /** For the connection: resolves the name and judges its addresses in one step, so that no second answer can differ. */
  readonly lookup?: LookupFunction;
  /** Why `lookup` refused, if it did. */
  refusal(): UploadRejectedError | null;
}

/** Decides which upload addresses may be sent to. */
export interface UploadTargets {
  /**
   * @throws {UploadRejectedError} no file may be sent to this address
   * @throws {ConnectionError} the service's own name cannot be resolved now, so the address cannot be judged
   */
  admit(address: string): Promise<UploadTarget>;
}

/**
 * An upload address comes from outside and makes this machine connect to it: it must not become a way into the network behind this
 * machine (server-side request forgery). It must be https, or http on this machine, hold no password, and not lead nearer to this
 * machine than the service itself: a service on the internet may not name an address of the private network or of this machine. An
 * origin that a person named is exempt.
 *
 * A proxy resolves names itself, and Node then never calls `lookup`: behind a proxy only literal addresses are judged here.
 *
 * @param named origins of the configuration: that of the service, and `sendKeyTo`
 * @param resolve default: the system's resolver
 * @param ownAddresses of this machine, asked once for each upload because they change: a public one leads to this machine too
 */
export function createUploadTargets(options: {
  readonly baseUrl: string;
  readonly named: ReadonlySet<string>;
  readonly resolve?: Resolve;
  readonly ownAddresses?: () => readonly string[];
}): UploadTargets {
  const { baseUrl, named, resolve = resolveAll, ownAddresses = askOwnAddresses } = options;
  const service = new URL(baseUrl).hostname;
  const createJudge = () => {
    let own: readonly string[] | null = null;
    const reachFrom = (address: string): Reach => reachHere(address, () => (own ??= ownAddresses()));
    return async (addresses: readonly string[]): Promise<Reach | null> => {
      const found = addresses.map(reachFrom).reduce((one, other) => (isNearer(other, one) ? other : one), 'public');
      // Resolves the service only if it matters.
      return found === 'public' || !isNearer(found, await farthest(service, resolve, reachFrom)) ? null : found;
    };
  };
  return {
    admit: async (address) => {
      const url = requireSafe(address);
      if (named.has(url.origin)) return { url, refusal: () => null };
      const judge = createJudge();
      if (!isAddress(url.hostname)) return guarded(url, resolve, judge);
      const near = await judge([url.hostname]);
      if (near !== null) throw tooNear(url, near);
      return { url, refusal: () => null };
    },
  };
}

/** No file leaves in the clear, and no password from an address is sent. */
function requireSafe(address: string): URL {
  if (address.length > longestAddress) throw unsafe(`the upload address is longer than ${longestAddress} characters`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null) throw unsafe('the upload address is not a web address');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw unsafe(
      `the upload address must be https, or http on this machine; it is ${url.protocol}//${url.host.slice(0, 260)}`,
    );
  if (url.username !== '' || url.password !== '') throw unsafe('the upload address contains a user name or password');
  return url;
}

function guarded(
  url: URL,
  resolve: Resolve,
  judge: (addresses: readonly string[]) => Promise<Reach | null>,
): UploadTarget {
  let refused: UploadRejectedError | null = null;
  const find = async (hostname: string, options: LookupOptions): Promise<readonly LookupAddress[]> => {
    const found = await resolve(hostname, options);
    const near = await judge(found.map(({ address }) => address));
    if (near === null) return found;
    refused = tooNear(url, near);
    throw refused;
  };
  return {
    url,
    lookup: (hostname, options, callback) => {
      void answer(() => find(hostname, options), options.all === true, callback);
    },
    refusal: () => refused,
  };
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

/** If a service has several addresses, the most public one counts. */
async function farthest(hostname: string, resolve: Resolve, reachFrom: (address: string) => Reach): Promise<Reach> {
  const addresses = isAddress(hostname) ? [hostname] : await addressesOf(hostname, resolve);
  const reaches = addresses.map(reachFrom).filter((reach) => reach !== 'forbidden');
  return reaches.reduce<Reach>((one, other) => (isNearer(one, other) ? other : one), reaches[0] ?? 'public');
}

/** A service that cannot be resolved now must not make an address, and with it a file, fail for good. */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return (await resolve(hostname, {})).map(({ address }) => address);
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    throw new ConnectionError(false, `${hostname} cannot be resolved: ${code}`, { code, cause: error });
  }
}

function resolveAll(hostname: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
  return lookup(hostname, { ...options, all: true });
}

const places: Readonly<Record<Reach, string>> = {
  public: 'the internet',
  private: 'a private network',
  loopback: 'this machine',
  forbidden: 'an address that never takes uploads',
};

function tooNear(url: URL, near: Reach): UploadRejectedError {
  return unsafe(
    `the upload address ${url.origin} leads to ${places[near]}, where the service itself is not; allow its origin to receive the key if that is intended`,
  );
}

function unsafe(message: string): UploadRejectedError {
  return new UploadRejectedError(message, { code: 'unsafe_upload_address' });
}
