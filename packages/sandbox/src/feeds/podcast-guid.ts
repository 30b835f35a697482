import { createHash } from 'node:crypto';

/**
 * The identity of a podcast in the podcast namespace: a UUID version 5 (RFC 9562 section 5.5) of its feed address without scheme
 * and trailing slashes. It is given once; a feed that moves keeps the one it has.
 */
export function podcastGuid(feedUrl: string): string {
  const seed = feedUrl.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '');
  const bytes = createHash('sha1').update(NAMESPACE).update(seed, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const NAMESPACE = Buffer.from('ead4c236bf5858c6a2c6a6b28d128cb6', 'hex');
