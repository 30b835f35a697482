import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import type { VideoMedia } from '../store/videos.ts';
import type { Container } from './media-report.ts';

/** Finds the first program of this name. @param path value of the PATH variable @returns null if there is none */
export function findProgram(name: string, path: string): string | null {
  const places = path.split(delimiter).filter((folder) => folder !== '');
  return places.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

interface FfmpegRun {
  /** Input options, which precede the input on the command line. */
  readonly input: readonly string[];
  readonly inputPath: string;
  readonly output: readonly string[];
  readonly outputPath: string;
}

/**
 * Runs ffmpeg on untrusted files: no shell, no network, no prompts, at most two processes at a time, with a timeout.
 */
export class Ffmpeg implements Disposable {
  readonly #program: string;
  readonly #limit = pLimit(2);
  readonly #closing = new AbortController();

  /** @param program path of ffmpeg */
  constructor(program: string) {
    this.#program = program;
  }

  /** Runs ffmpeg. @returns whether it succeeded; also false after a timeout or close */
  run(work: FfmpegRun): Promise<boolean> {
    return this.#limit(async () => {
      const { signal } = this.#closing;
      const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', signal, maxBuffer: 1 << 20 } as const;
      return execute(this.#program, argumentsOf(work), options).then(
        () => true,
        () => false,
      );
    });
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }
}

const execute = promisify(execFile);
const TIMEOUT_MS = 20_000;

function argumentsOf({ input, inputPath, output, outputPath }: FfmpegRun): string[] {
  const quiet = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y'];
  const bounded = ['-timelimit', String(TIMEOUT_MS / 1000), '-max_alloc', MAX_BLOCK_BYTES, '-max_pixels', MAX_PIXELS];
  // A file may refer to others, even on the network, for example as a playlist or by a reference in a MOV. `file:`
  // keeps a path from being read as a URL.
  const confined = ['-protocol_whitelist', 'file', '-threads', '1', ...input, '-i', `file:${inputPath}`];
  return [...quiet, ...bounded, ...confined, ...output, `file:${outputPath}`];
}

/** 8192 x 8192, which limits a frame to some 100 MB, whatever dimensions the file declares. */
const MAX_PIXELS = String(8192 * 8192);
const MAX_BLOCK_BYTES = String(512 * 1024 * 1024);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

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
