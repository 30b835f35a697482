import { lookup } from 'node:dns/promises';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

import { ConnectionError, ServiceError, UploadRejectedError } from '../errors.ts';
import { ownAddresses as askOwnAddresses } from './own-addresses.ts';
import { isAddress, isLoopback, isNearer, reachHere } from './reach.ts';
import type { Reach } from './reach.ts';
import { longestAddress } from '../wire/fields.ts';

/** Finds all addresses of a name. */
export type Resolve = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

/** An upload address that may be sent to. */
export interface UploadTarget {
  readonly url: URL;
  /**
   * For the connection: resolves the name and judges its addresses in one step, so that no second answer can differ.
   */
  readonly lookup?: LookupFunction;
  /** Why `lookup` refused, if it did. */
  refusal(): ServiceError | null;
}

/** Decides which upload addresses may be sent to. */
export interface UploadTargets {
  /**
   * @throws {UploadRejectedError} no file may be sent to this address
   * @throws {ConnectionError} the address is near, and no answer has proved yet where the service is: a later request
   *   to it does
   */
  admit(address: string): Promise<UploadTarget>;
  /**
   * The service has answered over TLS, which proves that it is at this address.
   * @param address of the other end of that connection; null: a proxy hides it
   */
  provedAt(address: string | null): void;
}

/**
 * An upload address comes from outside and makes this machine connect to it: it must not become a way into the network
 * behind this machine (server-side request forgery). It must be https, or http if `baseUrl` itself names this machine,
 * hold no password, and not lead nearer to this machine than the service: a service on the internet may not name an
 * address of the private network or of this machine. An origin that a person named is exempt.
 *
 * The location of the service is never looked up, because its own name server would answer. A literal address in
 * `baseUrl` gives it; otherwise it is the farthest place at which TLS has proved the service since this was created.
 * Behind a proxy that place is unknown and counts as public.
 *
 * A proxy resolves names itself, and Node then never calls `lookup`: behind a proxy only literal addresses are judged
 * here.
 *
 * @param named origins of the configuration: that of the service, and `sendKeyTo`
 * @param resolve default: the system's resolver
 * @param ownAddresses of this machine, asked once for each upload because they change: a public one leads to this
 *   machine too
 */
export function createUploadTargets(options: {
  readonly baseUrl: string;
  readonly named: ReadonlySet<string>;
  readonly resolve?: Resolve;
  readonly ownAddresses?: () => readonly string[];
}): UploadTargets {
  const { named, resolve = resolveAll, ownAddresses = askOwnAddresses } = options;
  const service = new URL(options.baseUrl);
  const proved = new Set<string>();
  const createJudge = () => {
    let own: readonly string[] | null = null;
    const reachFrom = (address: string): Reach => reachHere(address, () => (own ??= ownAddresses()));
    return (addresses: readonly string[]): Reach | null => {
      const found = addresses.map(reachFrom).reduce((one, other) => (isNearer(other, one) ? other : one), 'public');
      if (found === 'public' || found === 'forbidden') return found === 'public' ? null : found;
      const [first, ...others] = placesOf(service.hostname, proved).map((place) => orPublic(reachFrom(place)));
      if (first === undefined) throw unproved(service);
      const ofService = others.reduce((one, other) => (isNearer(one, other) ? other : one), first);
      return isNearer(found, ofService) ? found : null;
    };
  };
  return {
    admit: async (address) => {
      const url = requireSafe(address);
      if (named.has(url.origin)) return { url, refusal: () => null };
      requireEncrypted(url, isLoopback(service.hostname));
      const judge = createJudge();
      if (!isAddress(url.hostname)) return guarded(url, resolve, judge);
      const near = judge([url.hostname]);
      if (near !== null) throw tooNear(url, near);
      return { url, refusal: () => null };
    },
    provedAt: (address) => void proved.add(proved.size < mostPlaces && address !== null ? address : unknownPlace),
  };
}

/** Addresses at which the service was proved. A service has a few; beyond this many, another one counts as unknown. */
const mostPlaces = 100;

/** No address: its reach is `forbidden`, which counts as public. */
const unknownPlace = '';

/** The addresses of the service: the one that `baseUrl` itself names, or those at which TLS proved it. */
function placesOf(hostname: string, proved: ReadonlySet<string>): readonly string[] {
  if (isAddress(hostname)) return [hostname];
  return isLoopback(hostname) ? ['127.0.0.1'] : [...proved];
}

/** A service at an address that never accepts uploads, or at an unknown one, allows no near one. */
function orPublic(reach: Reach): Reach {
  return reach === 'forbidden' ? 'public' : reach;
}

/** Passwords in an address are never sent. */
function requireSafe(address: string): URL {
  if (address.length > longestAddress) throw unsafe(`the upload address is longer than ${longestAddress} characters`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null) throw unsafe('the upload address is not a web address');
  if (url.username !== '' || url.password !== '') throw unsafe('the upload address contains a user name or password');
  return url;
}

/** No file leaves in the clear, except to this machine for a service that the configuration itself puts there. */
function requireEncrypted(url: URL, isServiceHere: boolean): void {
  if (url.protocol === 'https:' || (isServiceHere && url.protocol === 'http:' && isLoopback(url.hostname))) return;
  const exception = isServiceHere ? ', or http on this machine' : '';
  throw unsafe(`the upload address must be https${exception}; it is ${url.protocol}//${url.host.slice(0, 260)}`);
}

function guarded(url: URL, resolve: Resolve, judge: (addresses: readonly string[]) => Reach | null): UploadTarget {
  let refused: ServiceError | null = null;
  const find = async (hostname: string, options: LookupOptions): Promise<readonly LookupAddress[]> => {
    const found = await resolve(hostname, options);
    try {
      const near = judge(found.map(({ address }) => address));
      if (near === null) return found;
      throw tooNear(url, near);
    } catch (error) {
      if (error instanceof ServiceError) refused = error;
      throw error;
    }
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

function resolveAll(hostname: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
  return lookup(hostname, { ...options, all: true });
}

const places: Readonly<Record<Reach, string>> = {
  public: 'the internet',
  private: 'a private network',
  loopback: 'this machine',
  forbidden: 'an address that never accepts uploads',
};

function tooNear(url: URL, near: Reach): UploadRejectedError {
  return unsafe(
    `the upload address ${url.origin} leads to ${places[near]}, where the service itself is not; allow its origin to receive the key if that is intended`,
  );
}

/** Temporary: the next answer of the service over TLS settles it. */
function unproved(service: URL): ConnectionError {
  const message = `the upload address is in this network, and ${service.origin} has not answered yet since the start, so it is unknown whether the service is there too`;
  return new ConnectionError(false, message, { code: 'service_not_located' });
}

function unsafe(message: string): UploadRejectedError {
  return new UploadRejectedError(message, { code: 'unsafe_upload_address' });
}
