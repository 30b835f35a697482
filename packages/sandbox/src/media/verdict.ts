/** The result of probing a file. */
export type Probe = PlayableProbe | UnplayableProbe;

export interface PlayableProbe extends MediaFacts {
  readonly isPlayable: true;
}

export interface UnplayableProbe {
  readonly isPlayable: false;
  /** `empty_file`, `truncated_file`, `damaged_file` or `unsupported_format`; a planned fault may say anything. */
  readonly code: string;
  readonly message: string;
}

/** Facts from the file itself, none from the client; null = unknown. */
export interface MediaFacts {
  readonly container: Container;
  /** `video/mp4`, `audio/mpeg` … */
  readonly mediaType: string;
  /** Without a dot: `mp4`, `mov`, `mkv`, `mp3` … */
  readonly fileExtension: string;
  /** Seconds with fractions, above 0. */
  readonly durationS: number | null;
  /** As displayed: after rotation and with square pixels. Null for sound alone. */
  readonly width: number | null;
  readonly height: number | null;
  /** As MediaInfo names it: `AVC`, `HEVC`, `VP9` … Null when there is no video stream. */
  readonly videoCodec: string | null;
  /** `AAC`, `MPEG Audio`, `Opus` … Null when there is no sound. */
  readonly audioCodec: string | null;
  /** Bit rate of the whole file, bits per second. */
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

/** The container says that bytes are missing. */
export function truncated(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'truncated_file', message };
}

/** The file cannot be parsed. */
export function damaged(message: string): UnplayableProbe {
  return { isPlayable: false, code: 'damaged_file', message };
}
