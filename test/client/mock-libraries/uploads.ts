import { createVideoClient } from '@dropcast/client';
import type { UploadedVideo } from '@dropcast/client';

/** The line that a program with a mock library prints about one upload. */
export interface MockedUpload {
  readonly uploaded: UploadedVideo;
  /** SHA-256 of the body that the mock received, hex. */
  readonly received: string;
}

export const baseUrl = 'https://video.example.com/v1';
export const created = { id: 'vid_1', upload_url: 'https://uploads.example.com/vid_1', status: 'pending' };
export const ready = { id: 'vid_1', status: 'ready' };

/**
 * Uploads a file of each size, named in the arguments, and prints the results.
 *
 * @param received returns the hash of the body that arrived last
 */
export async function uploadAll(received: () => string): Promise<void> {
  const results: MockedUpload[] = [];
  for (const sizeBytes of process.argv.slice(2).map(Number)) {
    await using client = createVideoClient({ baseUrl, apiKey: 'key', maxRetries: 0, proxyEnv: {} });
    const source = { name: 'a.mp4', sizeBytes, open: () => piecesOf(sizeBytes) };
    const uploaded = await client.videos.upload(source, { title: 'T' }, { askAfterFailure: false });
    await client.videos.waitUntilReady(uploaded.id);
    results.push({ uploaded, received: received() });
  }
  console.log(JSON.stringify(results));
}

async function* piecesOf(sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let left = sizeBytes; left > 0; left -= 50_000) yield Buffer.alloc(Math.min(left, 50_000), 128 + (left % 127));
}
