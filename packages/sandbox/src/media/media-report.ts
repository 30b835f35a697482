import type { Flaw } from '@dropcast/media';
import type { Track } from 'mediainfo.js';

/**
 * MediaInfo's report on a file, the file's first bytes (up to 12), and what its container states about its end and
 * duration.
 */
export interface MediaReport {
  readonly tracks: readonly Track[];
  readonly head: Uint8Array;
  readonly flaw: Flaw | null;
  /** In seconds; null if the container does not state it. */
  readonly durationS: number | null;
}

/**
 * Interprets the report. Truncated Ogg, ADTS, MP3, and FLV and ASF of unknown length pass as complete, because
 * players play the part that is there.
 */
export function verdictOf({ tracks, head, flaw, durationS: statedS }: MediaReport): Probe {
  const general = trackOf(tracks, 'General');
  const video = trackOf(tracks, 'Video');
  const sound = trackOf(tracks, 'Audio');
  const names = { name: general?.Format, profile: general?.Format_Profile, brand: brandOf(head) };
  const format = formatOf(names, video !== undefined);
  const isPicture = !video && !sound && trackOf(tracks, 'Image') !== undefined;
  if (!general || !format || isPicture) return UNSUPPORTED;
  const isTolerated = flaw?.is === 'no length' || flaw?.is === 'small' || format.container === 'mp3';
  if (isTruncated(general) && !isTolerated) return truncated(missingBytes(general));
  // MediaInfo misses the sound of an AIFF if a comment precedes it.
  const hasSamples = statedS !== null || flaw?.is === 'no length';
  const isSilent = format.container === 'aiff' && codecOf(sound) === null && hasSamples;
  const codecs = { videoCodec: codecOf(video), audioCodec: isSilent ? 'PCM' : codecOf(sound) };
  if (codecs.videoCodec === null && codecs.audioCodec === null)
    return truncated('The file has no video and no sound: its index is missing, as in an unfinished recording.');
  if (flaw?.is === 'missing') return truncated(`The file is cut off: ${flaw.why}.`);
  // A cut between an MP4's index and its media data, the one cut that MediaInfo mistakes for a complete file.
  if (format.container === 'mp4' && !general.DataSize) return truncated('The file has no media data after its index.');
  // If the file states no length, MediaInfo mistakes a placeholder for one; of ADTS it has none.
  const isStated = flaw?.is === 'no length' || isSilent || format.container === 'aac';
  const playedS = isStated ? statedS : durationS(tracks, format.container);
  const facts = { durationS: playedS, ...pictureFacts(video) };
  return {
    isPlayable: true,
    ...format,
    ...facts,
    ...codecs,
    bitRate: wholeNumber(general.OverallBitRate),
  };
}

type TrackType = Track['@type'];
type TrackOf<T extends TrackType> = Extract<Track, { readonly '@type': T }>;

const UNSUPPORTED: Probe = {
  isPlayable: false,
  code: 'unsupported_format',
  message: 'The file is not in a video or audio format that the service supports.',
};

function trackOf<T extends TrackType>(tracks: readonly Track[], type: T): TrackOf<T> | undefined {
  return tracks.find((track): track is TrackOf<T> => track['@type'] === type);
}

function brandOf(head: Uint8Array): string | undefined {
  const start = Buffer.from(head).toString('latin1');
  return start.startsWith('ftyp', 4) ? start.slice(8, 12) : undefined;
}

function isTruncated(general: Track): boolean {
  return general.extra?.['IsTruncated'] === 'Yes';
}

function missingBytes(general: Track): string {
  const sizes = /File size is less than expected size \(actual (\d+)[^,]*, expected (?:>=)?(\d+)/;
  const [, actual, expected] = sizes.exec(JSON.stringify(general.extra)) ?? [];
  const missing = Number(expected) - Number(actual);
  return missing > 0 ? `The file is cut off: ${missing} of its ${expected} bytes are missing.` : 'The file is cut off.';
}

/**
 * Returns the duration. For transport streams it uses the longest stream, because MediaInfo estimates the whole file's
 * duration from the bit rate (3.5 s for 3.0 s).
 */
function durationS(tracks: readonly Track[], container: MediaFacts['container']): number | null {
  const whole = positive(trackOf(tracks, 'General')?.Duration);
  if (whole !== null && container !== 'mpeg-ts') return whole;
  const streams = tracks.filter((track) => ['Video', 'Audio', 'Menu'].includes(track['@type']));
  const longest = Math.max(0, ...streams.map((track) => ('Duration' in track && positive(track.Duration)) || 0));
  return longest > 0 ? longest : whole;
}

function pictureFacts(video: TrackOf<'Video'> | undefined): Pick<MediaFacts, 'width' | 'height' | 'frameRate'> {
  const width = wholeNumber((video?.Width ?? 0) * (positive(video?.PixelAspectRatio) ?? 1));
  const height = wholeNumber(video?.Height);
  const isUpright = Math.abs(Math.round(Number(video?.Rotation ?? 0))) % 180 === 90;
  const frameRate = positive(video?.FrameRate);
  return isUpright ? { width: height, height: width, frameRate } : { width, height, frameRate };
}

/** Returns a codec's name, cleaned: unknown codecs have arbitrary bytes from the file as their name. */
function codecOf(track: TrackOf<'Video'> | TrackOf<'Audio'> | undefined): string | null {
  const name = track?.Format?.replace(/[^\x20-\x7e]/g, '').slice(0, 60) ?? '';
  return name === '' ? null : name;
}

// 30 years in seconds; real bit rates are lower too.
const LARGEST = 1e9;

function positive(value: number | undefined): number | null {
  return value !== undefined && value > 0 && value < LARGEST ? value : null;
}

function wholeNumber(value: number | undefined): number | null {
  const rounded = Math.round(value ?? 0);
  return rounded > 0 && Number.isSafeInteger(rounded) ? rounded : null;
}

type Format = Pick<MediaFacts, 'container' | 'mediaType' | 'fileExtension'>;

/** The container's names according to MediaInfo and the file itself. */
interface ContainerNames {
  /** MediaInfo's name. For an MP4 with a brand that MediaInfo does not know, the brand. */
  readonly name: string | undefined;
  /** MediaInfo's profile, which distinguishes MP4 from related formats. */
  readonly profile: string | undefined;
  /** The major brand of a file that begins with `ftyp` (ISO/IEC 14496-12 section 4.3). */
  readonly brand: string | undefined;
}

/**
 * Returns the service's format for a container. New MP4 brands appear with every camera and packager (`XAVC`, `iso6`,
 * `cmfc`), and players ignore them.
 * @returns undefined for a container without video and sound, or an unsupported one
 */
function formatOf({ name, profile, brand }: ContainerNames, hasVideo: boolean): Format | undefined {
  const isMp4 = name === 'MPEG-4' || (brand !== undefined && name === brand);
  const formats = isMp4 ? mp4Relative(profile ?? brand ?? '') : FORMATS[name ?? ''];
  return hasVideo ? formats?.[0] : (formats?.[1] ?? formats?.[0]);
}

/** The format with video, and the one for sound alone if it differs. */
type Formats = readonly [Format, Format?];

/** Distinguishes MP4 from related formats. @param kind MediaInfo's profile, or else the brand */
function mp4Relative(kind: string): Formats {
  if (kind.startsWith('QuickTime')) return QUICKTIME;
  return /^(?:3GPP|3g)/.test(kind) ? THREE_GP : MP4;
}

function format(container: Format['container'], fileExtension: string, mediaType: string): Format {
  return { container, mediaType, fileExtension };
}

// Media types: RFC 4337 (MP4), RFC 3839 (3GP), RFC 9559 section 27.3 (Matroska), RFC 3003 (MP3), RFC 3555 (MPEG), RFC
// 4539 (MXF), RFC 9639 (FLAC), RFC 5334 (Ogg); the others are those in common use.
const MP4: Formats = [format('mp4', 'mp4', 'video/mp4'), format('mp4', 'm4a', 'audio/mp4')];
const QUICKTIME: Formats = [format('mp4', 'mov', 'video/quicktime')];
const THREE_GP: Formats = [format('mp4', '3gp', 'video/3gpp'), format('mp4', '3gp', 'audio/3gpp')];

const FORMATS: Readonly<Record<string, Formats>> = {
  QuickTime: QUICKTIME,
  Matroska: [format('matroska', 'mkv', 'video/matroska'), format('matroska', 'mka', 'audio/matroska')],
  WebM: [format('matroska', 'webm', 'video/webm'), format('matroska', 'webm', 'audio/webm')],
  'MPEG Audio': [format('mp3', 'mp3', 'audio/mpeg')],
  'MPEG-TS': [format('mpeg-ts', 'ts', 'video/mp2t')],
  'MPEG-TS 188+16': [format('mpeg-ts', 'ts', 'video/mp2t')],
  BDAV: [format('mpeg-ts', 'm2ts', 'video/mp2t')],
  'MPEG-PS': [format('mpeg-ps', 'mpg', 'video/mpeg')],
  MXF: [format('mxf', 'mxf', 'application/mxf')],
  Wave: [format('wav', 'wav', 'audio/wav')],
  AVI: [format('avi', 'avi', 'video/x-msvideo')],
  FLAC: [format('flac', 'flac', 'audio/flac')],
  Ogg: [format('ogg', 'ogv', 'video/ogg'), format('ogg', 'ogg', 'audio/ogg')],
  'Flash Video': [format('flv', 'flv', 'video/x-flv')],
  'Windows Media': [format('asf', 'wmv', 'video/x-ms-wmv'), format('asf', 'wma', 'audio/x-ms-wma')],
  ADTS: [format('aac', 'aac', 'audio/aac')],
  AIFF: [format('aiff', 'aiff', 'audio/aiff')],
};

/** The result of probing a file. */
export type Probe = PlayableProbe | UnplayableProbe;

export interface PlayableProbe extends MediaFacts {
  readonly isPlayable: true;
}

interface UnplayableProbe {
  readonly isPlayable: false;
  /** `empty_file`, `truncated_file`, `damaged_file` or `unsupported_format`; a planned fault may set any other code. */
  readonly code: string;
  readonly message: string;
}

/** Facts taken from the file itself, none from the client; null if unknown. */
export interface MediaFacts {
  readonly container: Container;
  /** `video/mp4` or `audio/mpeg`, for example. */
  readonly mediaType: string;
  /** Without a dot: `mp4`, `mov`, `mkv` or `mp3`, for example. */
  readonly fileExtension: string;
  /** In seconds with fractions, above 0. */
  readonly durationS: number | null;
  /** As displayed, after rotation and with square pixels; null for sound alone. */
  readonly width: number | null;
  readonly height: number | null;
  /** MediaInfo's name, such as `AVC`, `HEVC` or `VP9`; null if there is no video stream. */
  readonly videoCodec: string | null;
  /** `AAC`, `MPEG Audio` or `Opus`, for example; null if there is no sound. */
  readonly audioCodec: string | null;
  /** Bit rate of the whole file, in bits per second. */
  readonly bitRate: number | null;
  /** Frames per second. */
  readonly frameRate: number | null;
}

export type Container =
  | 'mp4' // also QuickTime and 3GP: ISO/IEC 14496-12 and what it came from
  | 'matroska' // also WebM
  | 'mp3'
  | 'mpeg-ts'
  | 'mpeg-ps'
  | 'mxf'
  | 'wav'
  | 'avi'
  | 'flac'
  | 'ogg'
  | 'flv'
  | 'asf'
  | 'aac'
  | 'aiff';

/** Verdict for a file whose container shows that bytes are missing. */
function truncated(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'truncated_file', message };
}

/** Verdict for a file that cannot be parsed. */
export function damaged(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'damaged_file', message };
}
