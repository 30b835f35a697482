import { ByteSource } from './byte-source.ts';
import { probeFlac } from './flac.ts';
import { probeMagic } from './magic.ts';
import { probeMatroska } from './matroska.ts';
import { probeMp3 } from './mp3.ts';
import { probeMp4 } from './mp4.ts';
import { probeMpegTs } from './mpeg-ts.ts';
import { probeRiff } from './riff.ts';
import type { ContainerProbe, Probe } from './verdict.ts';

/** Decides from the container's own structure whether the bytes are a whole media file. Reads little, decodes nothing. */
export async function probe(path: string): Promise<Probe> {
  await using file = await ByteSource.open(path);
  if (file.sizeBytes === 0) return { isPlayable: false, code: 'empty_file', message: 'The uploaded file is empty.' };
  const head = await file.read(0, 4096);
  for (const probeContainer of PROBES) {
    const result = await probeContainer(file, head);
    if (result) return result;
  }
  return {
    isPlayable: false,
    code: 'unsupported_format',
    message: 'The file is no video or audio format that the service knows.',
  };
}

// Those with an unmistakable signature first: an MP3 is recognised by bits that random bytes have now and then.
const PROBES: readonly ContainerProbe[] = [
  probeMp4,
  probeMatroska,
  probeRiff,
  probeFlac,
  probeMagic,
  probeMpegTs,
  probeMp3,
];
