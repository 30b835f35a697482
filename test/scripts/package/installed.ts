import { spawnSync } from 'node:child_process';

/** Whether a program is there; when not, says loudly that its tests are skipped. */
export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  if (error === undefined) return true;
  console.error(
    `SKIPPED: ${program} is not installed (apt-get install ${PACKAGES[program] ?? program}); its tests prove nothing here`,
  );
  return false;
}

const PACKAGES: Readonly<Record<string, string>> = { man: 'man-db', 'dpkg-deb': 'dpkg' };
