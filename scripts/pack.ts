import { resolve } from 'node:path';
import { packPackages } from './pack/pack-packages.ts';

/**
 * `npm run pack` writes build/*.tgz: @dropcast/client, @dropcast/sandbox, @dropcast/recorder and dropcast, as they are
 * published.
 */
if (import.meta.main) {
  try {
    for (const { file, sizeBytes, entries } of await packPackages(resolve(import.meta.dirname, '..'))) {
      console.log(`${file}: ${entries.length} files, ${(sizeBytes / 1000).toFixed(0)} kB`);
      for (const entry of entries) console.log(`  ${entry}`);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
