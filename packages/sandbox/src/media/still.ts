import type { VideoMedia } from '../store/videos.ts';
import type { FfmpegRun } from './ffmpeg.ts';
import type { Container } from './verdict.ts';

/** Size of all thumbnails in pixels: 16:9, and above the 800x450 that television feeds require. */
export const THUMBNAIL_SIZE = { width: 1280, height: 720 };

/**
 * Returns the attempts at a still, best first: a typical frame of the second after a tenth of the video, when most
 * intros are over, or else one from the beginning. To ffmpeg, a sound file's cover is a video stream with one frame.
 */
export function stillAttempts(media: VideoMedia, inputPath: string, outputPath: string): FfmpegRun[] {
  const startsS = media.videoCodec === null || media.durationS === null ? [0] : [media.durationS / 10, 0];
  return startsS.map((startS) => ({
    // No `-ss 0`: after any seek, ffmpeg 5.1 finds no cover in an MP3.
    input: ['-f', DEMUXERS[media.container], ...(startS > 0 ? ['-ss', startS.toFixed(3)] : [])],
    inputPath,
    output: ['-map', '0:v:0', '-frames:v', '1', '-vf', FILTERS, ...JPEG],
    outputPath,
  }));
}

/** Converts a drawn PNG to JPEG. */
export function asJpeg(inputPath: string, outputPath: string): FfmpegRun {
  return { input: ['-f', 'png_pipe'], inputPath, output: ['-frames:v', '1', ...JPEG], outputPath };
}

// The demuxer is set explicitly, because ffmpeg would otherwise treat some files as playlists of other files.
const DEMUXERS: Readonly<Record<Container, string>> = {
  mp4: 'mov',
  matroska: 'matroska',
  mp3: 'mp3',
  'mpeg-ts': 'mpegts',
  'mpeg-ps': 'mpeg',
  mxf: 'mxf',
  wav: 'wav',
  avi: 'avi',
  flac: 'flac',
  ogg: 'ogg',
  flv: 'flv',
  asf: 'asf',
  aac: 'aac',
  aiff: 'aiff',
};

const { width, height } = THUMBNAIL_SIZE;
const FILTERS = [
  'scale=iw*sar:ih', // square pixels
  `scale=${width}:${height}:force_original_aspect_ratio=decrease`,
  `pad=${width}:${height}:-1:-1`,
  'setsar=1',
  'thumbnail=24', // the most typical of 24 frames; after the scaling, because it holds all of them in memory
].join(',');

const JPEG = ['-pix_fmt', 'yuvj420p', '-q:v', '3', '-f', 'image2', '-update', '1'];
