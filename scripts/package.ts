import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { buildPackage } from './package/build.ts';

/**
 * `npm run package` writes build/dropcast_VERSION_ARCHITECTURE.deb; `--all` also an .rpm and a PKGBUILD; `--fast`
 * compresses little, `--version` tries an upgrade.
 */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      all: { type: 'boolean', default: false },
      fast: { type: 'boolean', default: false },
      version: { type: 'string' },
    },
  });
  const tell = (text: string): void => console.error(`${(performance.now() / 1000).toFixed(1).padStart(5)} s  ${text}`);
  await buildPackage({
    root: resolve(import.meta.dirname, '..'),
    isFast: values.fast,
    others: values.all,
    ...(values.version !== undefined && { version: values.version }),
    tell,
  });
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
