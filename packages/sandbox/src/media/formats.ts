import type { MediaFacts } from './verdict.ts';

export type Format = Pick<MediaFacts, 'container' | 'mediaType' | 'fileExtension'>;

/** The container's names according to MediaInfo and the file itself. */
export interface ContainerNames {
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
export function formatOf({ name, profile, brand }: ContainerNames, hasVideo: boolean): Format | undefined {
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
