import { createHash } from 'node:crypto';
import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Architecture } from './debian.ts';
import { writeTar } from './layer.ts';
import type { Layer } from './layer.ts';
import type { ImageConfig } from './recipes.ts';

/** An image for one processor. */
export interface Platform {
  readonly architecture: Architecture;
  readonly config: ImageConfig;
  readonly layers: readonly Layer[];
}

export interface ArchiveTerms {
  /** The name that an engine gives the loaded image, with its tag. */
  readonly reference: string;
  readonly epochSeconds: number;
  /** Empty directory on the file system of the layers. */
  readonly scratch: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const TYPE = 'application/vnd.oci.image';

/**
 * Writes an OCI image layout (https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md) as one tar
 * file. Its index names one image, whose index has all platforms.
 */
export async function writeArchive(platforms: readonly Platform[], output: string, terms: ArchiveTerms): Promise<void> {
  const { reference, epochSeconds, scratch } = terms;
  const blobs = join(scratch, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const put = async (mediaType: string, value: object): Promise<Descriptor> => {
    const text = JSON.stringify(value);
    const hex = createHash('sha256').update(text).digest('hex');
    await writeFile(join(blobs, hex), text);
    return { mediaType: `${TYPE}.${mediaType}`, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
  };
  const created = new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z');
  // Processors share the layer of the program.
  const files = new Map(platforms.flatMap(({ layers }) => layers.map(({ digest, file }) => [digest, file] as const)));
  for (const [digest, from] of files) await link(from, join(blobs, digest.slice('sha256:'.length)));
  const manifests = [];
  for (const { architecture, config, layers } of platforms) {
    const platform = { architecture, os: 'linux', ...(architecture === 'arm64' && { variant: 'v8' }) };
    const described = {
      created,
      ...platform,
      config,
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: await put('config.v1+json', described),
      layers: layers.map(({ digest, sizeBytes }) => ({
        mediaType: `${TYPE}.layer.v1.tar+gzip`,
        digest,
        size: sizeBytes,
      })),
    };
    manifests.push({ ...(await put('manifest.v1+json', manifest)), platform });
  }
  const index = await put('index.v1+json', { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests });
  const annotations = { 'org.opencontainers.image.ref.name': reference, 'io.containerd.image.name': reference };
  const top = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: [{ ...index, annotations }] };
  await writeFile(join(scratch, 'index.json'), JSON.stringify(top));
  await writeFile(join(scratch, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeTar(scratch, output, { epochSeconds, mode: 'u=rwX,go=rX' });
}
