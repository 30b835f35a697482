import { endsAt, flawed, missingBytes, noLength, sound } from './media-file.ts';
import type { MediaFile, ReadAt, Verdict } from './media-file.ts';

const FORMS = new Set(['RIFF', 'RF64', 'BW64', 'FORM']);
const TYPES = new Set(['WAVE', 'AVI ', 'AIFF', 'AIFC']);

export function isOfChunks({ start }: MediaFile): boolean {
  return FORMS.has(start.toString('latin1', 0, 4)) && TYPES.has(start.toString('latin1', 8, 12));
}

/**
 * WAV and AVI (RIFF), RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088), and AIFF (big-endian): a form of chunks, each with
 * a 32-bit length. RF64 keeps its lengths in the chunk `ds64`, and an AVI above 1 GB continues in forms of type AVIX
 * (OpenDML 1.02). A recorder writes the lengths when it finishes. A writer to a pipe cannot, and leaves a placeholder.
 */
export async function chunksEnd({ readAt, size }: MediaFile): Promise<Verdict> {
  const form = await formAt(readAt, 0, size);
  if (form === null) return sound();
  const verdict = form.type === 'AVI ' ? formEnd(form, size) : soundEnd(form, size);
  if (verdict.flaw !== null || form.type !== 'AVI ') return verdict;
  let last = form;
  for (let parts = 1; parts < MOST_PARTS; parts += 1) {
    const next = await formAt(readAt, endOfForm(last), size);
    if (next?.id !== 'RIFF' || next.type !== 'AVIX') break;
    const part = formEnd(next, size);
    if (part.flaw !== null) return part;
    last = next;
  }
  return sound(playersEnd(last));
}

/**
 * Returns the duration of a WAV, RF64 or AIFF in seconds; `null` if it states no length, or more samples than are
 * present.
 */
export async function chunksDuration({ readAt, size }: MediaFile): Promise<number | null> {
  const form = await formAt(readAt, 0, size);
  const samples = form?.chunks.find(({ id }) => SAMPLES.has(id));
  if (form === null || samples === undefined || samples.end > size) return null;
  if (soundEnd(form, size).flaw?.is === 'no length') return null;
  return form.id === 'FORM' ? aiffSeconds(form) : samples.length / bytesPerSecond(form);
}

interface Chunk {
  readonly id: string;
  /** First bytes of the content, at most 28. */
  readonly content: Buffer;
  /** Length as stated by the chunk, without padding. All values in bytes. */
  readonly length: number;
  readonly end: number;
}

interface Form {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  /** Length as stated by the form, without its eight-byte header. */
  readonly length: number;
  readonly chunks: readonly Chunk[];
}

const SAMPLES = new Set(['data', 'SSND']);
const ALL_ONES = 0xffffffff;
/** Tolerance for writers that count the header too, or a last byte that only makes the length even. */
const TOLERATED_BYTES = 8;
/** Maximum number of chunks read. Recorders write about ten. */
const MOST_CHUNKS = 256;
/** Maximum number of parts read, of 1 GB each. */
const MOST_PARTS = 256;

/** Reads the chunks of a form: up to its samples, even beyond its stated length, and then up to its end. */
async function formAt(readAt: ReadAt, at: number, size: number): Promise<Form | null> {
  const header = await readAt(at, 12);
  if (header.length < 12) return null;
  const [id, type] = [header.toString('latin1', 0, 4), header.toString('latin1', 8, 12)];
  const uint = (bytes: Buffer): number => (id === 'FORM' ? bytes.readUInt32BE(4) : bytes.readUInt32LE(4));
  const chunks: Chunk[] = [];
  let length = uint(header);
  let longLength = ALL_ONES;
  let isBeforeSamples = type !== 'AVI ' && type !== 'AVIX';
  for (let position = at + 12; position < (isBeforeSamples ? size : Math.min(size, at + 8 + length));) {
    const head = await readAt(position, 36);
    if (head.length < 8 || chunks.length === MOST_CHUNKS) break;
    const name = head.toString('latin1', 0, 4);
    if (name === 'ds64' && id !== 'RIFF' && head.length >= 24) {
      length = Number(head.readBigUInt64LE(8)) || length;
      longLength = Number(head.readBigUInt64LE(16));
    }
    const bytes = name === 'data' && id !== 'RIFF' && uint(head) === ALL_ONES ? longLength : uint(head);
    const end = position + 8 + bytes;
    chunks.push({ id: name, content: head.subarray(8), length: bytes, end });
    isBeforeSamples &&= !SAMPLES.has(name);
    // A chunk occupies an even number of bytes, even if its length is odd; the last one may lack its padding.
    position = end + (end === at + 8 + length ? 0 : bytes % 2);
  }
  return { id, type, at, length, chunks };
}

const endOfForm = ({ at, length }: Form): number => at + 8 + length + (length % 2);

/** Judges a form by its stated length alone. */
function formEnd(form: Form, size: number): Verdict {
  const end = form.at + 8 + form.length;
  if (form.length === 0 || isPlaceholder(form.length, size - form.at)) return noLength;
  return end > size + TOLERATED_BYTES ? endsAt(end, size) : sound(playersEnd(form));
}

/** Judges a WAV or AIFF file. */
function soundEnd(form: Form, size: number): Verdict {
  const samples = form.chunks.find(({ id }) => SAMPLES.has(id));
  const there = size - form.at;
  const isEmpty = samples?.length === (samples?.id === 'SSND' ? 8 : 0);
  if (isEmpty && isFilled(form) && Math.abs(endOfForm(form) - size) <= 1)
    return flawed('small', 'the container has no samples');
  if (samples !== undefined && (samples.length === 0 || isPlaceholder(samples.length, there))) return noLength;
  const whole = form.id === 'RIFF' || form.id === 'FORM' ? formEnd(form, size) : sound(playersEnd(form));
  if (whole.flaw !== null) return whole;
  if (samples === undefined)
    return form.chunks.length < MOST_CHUNKS ? flawed('missing', 'the container ends before its samples') : sound();
  const missing = missingBytes(samples.end, size);
  return missing === null ? whole : flawed('missing', missing);
}

/**
 * Whether a length far beyond the end of the file is a placeholder from a writer to a pipe: all ones, the largest
 * 31-bit number, one of these minus a header (Amazon Polly: 0xFFFFFF9B) or rounded down to whole pages (SoX:
 * 0x7FFFF000, GStreamer: 0x7FFF0000), or a round number (2,000,000,000).
 *
 * @param there number of bytes present in the file
 */
function isPlaceholder(length: number, there: number): boolean {
  if (length === ALL_ONES || length >= 2 ** 63) return true;
  if (length < 2 * there || length > 2 ** 32 + 512) return false;
  const below = [2 ** 31, 2 ** 32].map((limit) => limit - length);
  const isNearLimit = below.some((distance) => Math.abs(distance) <= 512);
  const isPage = below.some((distance) => distance > 0 && distance <= 2 ** 24) && length % 4096 < 512;
  const isRound = length >= 1e9 && (length % 1e8 < 512 || length % 2 ** 28 < 512);
  return isNearLimit || isPage || isRound;
}

/**
 * Returns where players stop: at the end of the form, if its chunks fill it and one of them contains media. Otherwise
 * the form contradicts itself and players read on (null).
 */
function playersEnd(form: Form): number | null {
  const hasMedia = form.chunks.some(
    ({ id, length, content }) => length > 0 && (SAMPLES.has(id) || content.toString('latin1', 0, 4) === 'movi'),
  );
  return hasMedia && isFilled(form) ? form.at + 8 + form.length : null;
}

/** Whether the form's chunks end exactly where it does, and have printable names. */
function isFilled({ at, length, chunks }: Form): boolean {
  const end = at + 8 + length;
  const last = chunks.at(-1)?.end ?? 0;
  return (last === end || last + (last % 2) === end) && chunks.every(({ id }) => /^[ -~]{4}$/u.test(id));
}

function bytesPerSecond({ chunks }: Form): number {
  const format = chunks.find(({ id }) => id === 'fmt ')?.content;
  return format === undefined || format.length < 12 ? 0 : format.readUInt32LE(8);
}

/** Returns the number of frames divided by the 80-bit floating-point sample rate, both from the chunk `COMM`. */
function aiffSeconds({ chunks }: Form): number | null {
  const common = chunks.find(({ id }) => id === 'COMM')?.content;
  if (common === undefined || common.length < 18) return null;
  const rate = Number(common.readBigUInt64BE(10)) * 2 ** ((common.readUInt16BE(8) & 0x7fff) - 16_383 - 63);
  return common.readUInt32BE(2) / rate;
}
