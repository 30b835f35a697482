import { createScrub } from '../../../packages/client/src/transport/scrub.ts';
import type { BodyReader } from '../../../packages/client/src/upload/body-reader.ts';
import { FilePass } from '../../../packages/client/src/upload/file-pass.ts';
import { putProtocol } from '../../../packages/client/src/upload/protocols/protocols.ts';
import { UploadHost } from '../../../packages/client/src/upload/upload-host.ts';
import { requestUpload } from '../../../packages/client/src/upload/upload-request.ts';
import type { UploadRequest, UploadWorld } from '../../../packages/client/src/upload/upload-request.ts';

export interface PutOptions extends Pick<
  UploadRequest,
  'url' | 'headers' | 'signal' | 'stallTimeoutMs' | 'answerTimeoutMs' | 'onProgress'
> {
  beforeLastPart(sha256: string): Promise<void>;
}

export interface Uploaded {
  readonly sha256: string;
  readonly bytes: number;
}

/** Sends a file with one PUT, as the client does. */
export async function putFile(
  { reader, sizeBytes }: { readonly reader: BodyReader; readonly sizeBytes: number },
  { beforeLastPart, ...options }: PutOptions,
  world: UploadWorld,
): Promise<Uploaded> {
  const caller = {
    upload: (request: UploadRequest) => requestUpload(request, world),
    scrub: (secrets: readonly string[]) =>
      createScrub([...secrets, world.keyFor(URL.parse(options.url)?.origin ?? '') ?? '']),
  };
  const host = new UploadHost(caller, putProtocol(sizeBytes), { ...options, sizeBytes, attempt: 1 });
  await using pass = new FilePass({ reader, sizeBytes, signal: options.signal, beforeLastPart });
  const bytes = await host.deliver(pass, () => null);
  return { sha256: pass.sha256 ?? '', bytes };
}
