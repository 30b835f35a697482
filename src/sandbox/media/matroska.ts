import type { ByteSource } from './byte-source.ts';
import { damaged, playable, truncated, type Probe } from './verdict.ts';

/** Matroska and WebM: the segment must lie inside the file; its Info element tells the duration (RFC 8794, RFC 9559). */
export async function probeMatroska(file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  if (!head.subarray(0, 4).equals(EBML_MAGIC)) return undefined;
  const header = await elementAt(file, 0);
  const segment = header?.end === undefined ? undefined : await elementAt(file, header.end);
  if (!segment) return truncated('The file ends before its segment.');
  if (segment.id !== SEGMENT) return damaged('The EBML header is not followed by a segment.');
  if (segment.end !== undefined && segment.end > file.sizeBytes)
    return truncated(`The segment needs ${segment.end - file.sizeBytes} bytes that are missing.`);
  return playable('matroska', await durationIn(file, segment.bodyStart));
}

interface Element {
  readonly id: number;
  readonly bodyStart: number;
  /** Undefined for the unknown size of a live recording. */
  readonly end: number | undefined;
}

const EBML_MAGIC = Buffer.from('1a45dfa3', 'hex');
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const MAX_ELEMENTS = 10_000;

async function durationIn(file: ByteSource, segmentStart: number): Promise<number | null> {
  let offset = segmentStart;
  for (let count = 0; count < MAX_ELEMENTS; count += 1) {
    const element = await elementAt(file, offset);
    if (element?.end === undefined) return null;
    if (element.id === INFO) return durationOfInfo(file, element.bodyStart, element.end);
    offset = element.end;
  }
  return null;
}

async function durationOfInfo(file: ByteSource, start: number, end: number): Promise<number | null> {
  let scaleNs = 1_000_000;
  let ticks: number | null = null;
  for (let offset = start; offset < end;) {
    const element = await elementAt(file, offset);
    if (element?.end === undefined) break;
    const body = await file.read(element.bodyStart, Math.min(8, element.end - element.bodyStart));
    if (element.id === TIMESTAMP_SCALE && body.length > 0 && body.length <= 6)
      scaleNs = body.readUIntBE(0, body.length);
    if (element.id === DURATION) ticks = floatIn(body);
    offset = element.end;
  }
  return ticks === null ? null : (ticks * scaleNs) / 1e9;
}

function floatIn(body: Buffer): number | null {
  if (body.length === 8) return body.readDoubleBE(0);
  return body.length === 4 ? body.readFloatBE(0) : null;
}

/** Undefined when the file ends inside the element's header, or when it is none. */
async function elementAt(file: ByteSource, offset: number): Promise<Element | undefined> {
  const header = await file.read(offset, 12);
  const idLength = vintLength(header[0], 4);
  const sizeLength = idLength === undefined ? undefined : vintLength(header[idLength], 8);
  if (idLength === undefined || sizeLength === undefined || header.length < idLength + sizeLength) return undefined;
  const size = vintValue(header.subarray(idLength, idLength + sizeLength));
  const bodyStart = offset + idLength + sizeLength;
  return { id: header.readUIntBE(0, idLength), bodyStart, end: size === undefined ? undefined : bodyStart + size };
}

/** The number of leading zero bits of the first byte is the number of bytes that follow (RFC 8794 section 4). */
function vintLength(first: number | undefined, max: number): number | undefined {
  if (first === undefined) return undefined;
  const length = Math.clz32(first) - 23;
  return length <= max ? length : undefined;
}

/** Undefined for all ones, which mean 'unknown size'. */
function vintValue(bytes: Buffer): number | undefined {
  const marker = 1n << BigInt(7 * bytes.length);
  const value = BigInt(`0x${bytes.toString('hex')}`) & (marker - 1n);
  return value === marker - 1n ? undefined : Number(value);
}
