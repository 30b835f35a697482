import type { PlayableProbe } from '../../packages/sandbox/src/media/media-report.ts';

/** What probing says about a small video, for tests that need some verdict and no file. */
export const playable: PlayableProbe = {
  isPlayable: true,
  container: 'mp4',
  mediaType: 'video/mp4',
  fileExtension: 'mp4',
  durationS: 4,
  width: 320,
  height: 180,
  videoCodec: 'AVC',
  audioCodec: 'AAC',
  bitRate: 130_364,
  frameRate: 25,
};
