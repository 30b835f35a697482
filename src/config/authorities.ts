import type { AuthoritiesByHost } from './config.ts';
import { readRegularFile } from './file-access.ts';
import { resolvePath } from './paths.ts';
import { error, type Finding } from './problem.ts';
import type { KeyPath } from './raw-tree.ts';
import { authorityFiles } from './secret-places.ts';
import type { SecretSource } from './secret-source.ts';

/** Reads the files of `tls.ca`. */
export async function resolveAuthorities(
  tree: unknown,
  source: SecretSource,
): Promise<{ readonly authorities: AuthoritiesByHost; readonly findings: readonly Finding[] }> {
  const read = await Promise.all(
    authorityFiles(tree).map(async ({ path, host, file }) => ({
      host,
      ...(await readAuthorities(path, file, source)),
    })),
  );
  return {
    authorities: Object.fromEntries(read.flatMap(({ host, text }) => (text === null ? [] : [[host, text]]))),
    findings: read.flatMap(({ findings }) => findings),
  };
}

const MAX_BYTES = 1024 * 1024;

/** Reads the certificates of the file that a key names; null without one. */
export async function readAuthorities(
  key: KeyPath,
  path: string | undefined,
  { configFile, environment }: SecretSource,
): Promise<{ readonly text: string | null; readonly findings: readonly Finding[] }> {
  if (path === undefined || path.trim() === '') return { text: null, findings: [] };
  const file = resolvePath(path, configFile, environment);
  const refused = (message: string) => ({ text: null, findings: [error(key, message)] });
  const read = await readRegularFile(file, MAX_BYTES);
  if (!read.ok) return refused(`cannot read the certificates in ${file}: ${read.message}`);
  const text = read.bytes.toString('latin1');
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return refused(`${file} contains no certificate in PEM format`);
  return { text, findings: [] };
}
