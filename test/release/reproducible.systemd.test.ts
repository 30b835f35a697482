import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { execute } from '../systemd/execute.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const programs = ['apt-ftparchive', 'dpkg-deb', 'gpg', 'minisign', 'rpmbuild', 'createrepo_c'] as const;

// Little compression: the programs that compress do so with the same options and one thread in every build.
describe('a release of one commit', needs(...programs), () => {
  test(
    'is the same wherever, whenever and by whomever it is built, but for keys and signatures',
    { timeout: 1_200_000 },
    async () => {
      // On the disk of the checkout: the copies share its node_modules, file by file.
      await mkdir(join(root, 'build'), { recursive: true });
      const scratch = await mkdtemp(join(root, 'build/release-'));
      try {
        const build = async (
          name: string,
          where: string,
          umask: string,
          env: Readonly<Record<string, string>>,
        ): Promise<string> => {
          const checkout = join(scratch, name, 'dropcast');
          await must(['git', 'clone', '--quiet', '--shared', root, checkout]);
          await must(['cp', '--archive', '--link', join(root, 'node_modules'), checkout]);
          const out = join(scratch, name, where);
          const settings = Object.entries({ HOME: scratch, npm_config_cache: join(scratch, 'npm'), ...env }).map(
            ([key, value]) => `${key}=${value}`,
          );
          const script = `umask ${umask}; cd "$1"; exec "$0" scripts/release.ts --fast --out "$2"`;
          await must(['env', ...settings, 'bash', '-c', script, process.execPath, checkout, out]);
          return readFile(join(out, 'SHA256SUMS'), 'utf8');
        };
        const first = await build('one', 'dropcast/release', '022', { TZ: 'UTC', LANG: 'C' });
        const second = await build('another folder', 'elsewhere', '077', {
          TZ: 'Pacific/Auckland',
          LANG: 'de_DE.UTF-8',
        });
        expect(first.split('\n').length).toBeGreaterThan(20);
        expect(second.split('\n')).toEqual(first.split('\n'));
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  );
});

async function must(command: readonly [string, ...string[]]): Promise<void> {
  const { code, stdout, stderr } = await execute(command, { timeoutMs: 900_000 });
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stdout}${stderr}`);
}
