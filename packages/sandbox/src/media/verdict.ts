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
export function truncated(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'truncated_file', message };
}

/** Verdict for a file that cannot be parsed. */
export function damaged(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'damaged_file', message };
}
