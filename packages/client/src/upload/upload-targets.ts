import type { LookupFunction } from 'node:net';

import { ConnectionError, ServiceError, UploadRejectedError } from '../errors.ts';
import { ownAddresses as askOwnAddresses } from './own-addresses.ts';
import { isAddress, isLoopback, isNearer, reachHere } from './reach.ts';
import type { Reach } from './reach.ts';
import { lookupWith, resolveName } from '../transport/name-lookup.ts';
import type { Resolve } from '../transport/name-lookup.ts';
import { longestAddress } from '../wire/fields.ts';

/** An upload address that may be used. */
export interface UploadTarget {
  readonly url: URL;
  /**
   * Lookup for the connection. It resolves the name and checks the addresses in one step, so a second DNS answer cannot
   * differ.
   */
  readonly lookup?: LookupFunction;
  /** Returns why `lookup` refused, if it did. */
  refusal(): ServiceError | null;
}

/** Decides which upload addresses may be used. */
export interface UploadTargets {
  /**
   * @throws {UploadRejectedError} no file may be sent to this address
   * @throws {ConnectionError} the address is near, and the service's own location is not yet proved; its next response
   *   will prove it
   */
  admit(address: string): Promise<UploadTarget>;
  /**
   * Records that the service answered over TLS, which proves that it is at this address.
   * @param address remote end of that connection; null: hidden by a proxy
   */
  provedAt(address: string | null): void;
}

/**
 * Creates the check for upload addresses. An upload address comes from outside and makes this machine connect to it, so
 * it must not become a way into the network behind this machine (server-side request forgery). It must be https, or
 * http if `baseUrl` itself names this machine. It must contain no password, and must not lead nearer to this machine
 * than the service: a service on the internet may not name an address in the private network or on this machine.
 * Origins named in the configuration are exempt.
 *
 * The service's location is never looked up, because its own name server would answer. The location is the literal
 * address in `baseUrl`, otherwise the farthest address at which TLS has proved the service so far. Behind a proxy it is
 * unknown and counts as public.
 *
 * A proxy resolves names itself, so Node never calls `lookup`; behind a proxy only literal addresses are checked here.
 *
 * @param named configured origins: the service's own, and `sendKeyTo`
 * @param resolve default: the system's resolver
 * @param ownAddresses returns this machine's addresses; called once per upload because they change. Even a public one
 *   leads to this machine
 */
export function createUploadTargets(options: {
  readonly baseUrl: string;
  readonly named: ReadonlySet<string>;
  readonly resolve?: Resolve;
  readonly ownAddresses?: () => readonly string[];
}): UploadTargets {
  const { named, resolve = resolveName, ownAddresses = askOwnAddresses } = options;
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

/** Maximum number of proved addresses to remember. A service has a few; any beyond this limit count as unknown. */
const mostPlaces = 100;

/** Placeholder for an unknown address. Its reach is `forbidden`, which counts as public. */
const unknownPlace = '';

/** Returns the service's addresses: the literal one in `baseUrl`, or those at which TLS proved it. */
function placesOf(hostname: string, proved: ReadonlySet<string>): readonly string[] {
  if (isAddress(hostname)) return [hostname];
  return isLoopback(hostname) ? ['127.0.0.1'] : [...proved];
}

/** Treats a service at a forbidden or unknown address as public, so that it may not name near addresses. */
function orPublic(reach: Reach): Reach {
  return reach === 'forbidden' ? 'public' : reach;
}

/** Parses an upload address and rejects passwords, which must never be sent. */
function requireSafe(address: string): URL {
  if (address.length > longestAddress) throw unsafe(`the upload address is longer than ${longestAddress} characters`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null) throw unsafe('the upload address is not a web address');
  if (url.username !== '' || url.password !== '') throw unsafe('the upload address contains a user name or password');
  return url;
}

/** Requires https, except on this machine when `baseUrl` itself is on this machine. */
function requireEncrypted(url: URL, isServiceHere: boolean): void {
  if (url.protocol === 'https:' || (isServiceHere && url.protocol === 'http:' && isLoopback(url.hostname))) return;
  const exception = isServiceHere ? ', or http on this machine' : '';
  throw unsafe(`the upload address must be https${exception}; it is ${url.protocol}//${url.host.slice(0, 260)}`);
}

function guarded(url: URL, resolve: Resolve, judge: (addresses: readonly string[]) => Reach | null): UploadTarget {
  let refused: ServiceError | null = null;
  const find: Resolve = async (hostname, options) => {
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
    lookup: lookupWith(find),
    refusal: () => refused,
  };
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

/** Builds a transient error: the service's next response over TLS proves its location. */
function unproved(service: URL): ConnectionError {
  const message = `the upload address is in this network, and ${service.origin} has not answered yet since the start, so it is unknown whether the service is there too`;
  return new ConnectionError(false, message, { code: 'service_not_located' });
}

function unsafe(message: string): UploadRejectedError {
  return new UploadRejectedError(message, { code: 'unsafe_upload_address' });
}
