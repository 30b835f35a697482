import { platform } from 'node:os';
import { execute } from './execute.ts';

/**
 * What is in the way of booting a Debian on this machine, in one sentence, or null. Installs systemd-container and debootstrap
 * where apt can.
 */
export async function hostObstacle(): Promise<string | null> {
  if (platform() !== 'linux') return `systemd is a matter of Linux, and this is ${platform()}`;
  if (process.getuid?.() !== 0) return 'only root may boot a container: run it with sudo';
  const { code, stderr } = await execute(['unshare', '--mount', '--pid', '--fork', 'true']);
  if (code !== 0) return `this machine does not allow new namespaces: ${stderr.trim()}`;
  return await installTools();
}

const tools = {
  'systemd-nspawn': 'systemd-container',
  debootstrap: 'debootstrap',
  'dpkg-deb': 'dpkg',
  strip: 'binutils',
  curl: 'curl',
};

async function installTools(): Promise<string | null> {
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(tools)) {
    const { code } = await execute(['sh', '-c', `command -v ${program}`]);
    if (code !== 0) missing.push(debianPackage);
  }
  if (missing.length === 0) return null;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await execute(['apt-get', 'update', '-qq'], { env });
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...missing];
  const { code, stderr } = await execute(['apt-get', ...install], { env, timeoutMs: 300_000 });
  if (code === 0) return null;
  return `${missing.join(' and ')} could not be installed: ${stderr.trim().split('\n').at(-1) ?? 'apt-get failed'}`;
}
