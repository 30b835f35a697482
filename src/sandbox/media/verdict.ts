import type { ByteSource } from './byte-source.ts';

/** What a look at the bytes says. */
export type Probe = PlayableProbe | UnplayableProbe;

export interface PlayableProbe {
  readonly isPlayable: true;
  readonly container: Container;
  /** Seconds with fractions; null when the container does not tell. */
  readonly durationS: number | null;
}

export interface UnplayableProbe {
  readonly isPlayable: false;
  /** `empty_file`, `truncated_file`, `damaged_file` or `unsupported_format`; a planned fault may say anything. */
  readonly code: string;
  readonly message: string;
}

export type Container = 'mp4' | 'matroska' | 'mp3' | 'mpeg-ts' | 'mpeg-ps' | 'mxf' | 'wav' | 'avi' | 'flac';

/** Looks at one container. Undefined = these bytes are not of my kind. Gets the first bytes of the file, up to 4 KiB. */
export type ContainerProbe = (file: ByteSource, head: Buffer) => Promise<Probe | undefined>;

export function playable(container: Container, durationS: number | null): Probe {
  const isKnown = durationS !== null && Number.isFinite(durationS) && durationS > 0;
  return { isPlayable: true, container, durationS: isKnown ? durationS : null };
}

/** The container says that bytes are missing. */
export function truncated(message: string): Probe {
  return { isPlayable: false, code: 'truncated_file', message };
}

/** The container contradicts itself. */
export function damaged(message: string): Probe {
  return { isPlayable: false, code: 'damaged_file', message };
}
