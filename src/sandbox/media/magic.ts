import type { ByteSource } from './byte-source.ts';
import { playable, type Container, type Probe } from './verdict.ts';

/** Containers that are recognised by their first bytes alone; their duration stays unknown. */
export async function probeMagic(_file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  const found = MAGIC.find(([, magic]) => head.subarray(0, magic.length).equals(magic));
  return found && playable(found[0], null);
}

const MAGIC: readonly (readonly [Container, Buffer])[] = [
  ['mpeg-ps', Buffer.from('000001ba', 'hex')], // pack start code, ISO/IEC 13818-1 section 2.5.3.3
  ['mxf', Buffer.from('060e2b34020501010d0102', 'hex')], // partition pack key, SMPTE ST 377-1
];
