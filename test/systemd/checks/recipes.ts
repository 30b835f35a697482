import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { isAsShown, stepsOf } from '../../e2e/page-steps.ts';
import type { Step } from '../../e2e/page-steps.ts';
import type { Box } from '../box.ts';
import { dropVideo, quoted } from '../installed.ts';

const page = await readFile(new URL('../../../docs/recipes.md', import.meta.url), 'utf8');

/** docs/recipes.md as it is written, on a machine of its own with real servers and a video service with TLS. */
export function checkRecipes(box: () => Box, file: string): void {
  let key = '';

  beforeAll(async () => {
    await box().read(`export DEBIAN_FRONTEND=noninteractive
echo 'APT::Install-Recommends "false";' > /etc/apt/apt.conf.d/recipes
apt-get install -y ${file}
# nmbd would wait for a network for 90 s.
mkdir /etc/systemd/system/nmbd.service.d
printf '[Service]\\nType=oneshot\\nExecStart=\\nExecStart=true\\n' > /etc/systemd/system/nmbd.service.d/none.conf
echo '127.0.0.1 video.example.com proxy.example.com nas.example.com' >> /etc/hosts
[ -e /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229`);
    key = await startService(box());
    const setup = 'setup --service https://video.example.com/v1 --key-file - --folder /srv/media/inbox --group media';
    await box().read(`NODE_EXTRA_CA_CERTS=${authority} dropcast ${setup} --channel ch_main --yes`, {
      input: `${key}\n`,
    });
  });

  test('docs/recipes.md: a Samba share, for the members of its group alone', async () => {
    await follow(box(), 'A Samba share', key);
    await box().read('useradd -M carl && smbpasswd -s -a carl', { input: passwords });
    const other = await box().run('smbclient //localhost/inbox -U carl -c ls', { input: passwords });
    expect(other.stdout + other.stderr).toContain('NT_STATUS_ACCESS_DENIED');
  });

  test('docs/recipes.md: an SFTP user who can drop files and nothing else', async () => {
    await follow(box(), 'An SFTP drop user', key);
    expect(await box().read('stat -c "%a %U:%G" /srv/media/inbox/from_sftp.mp4')).toBe('660 agency:media');
    expect(await box().run('cd /root; ssh -i agency agency@localhost id')).not.toMatchObject({ code: 0 });
    const out = await box().run('cd /root; echo "get /etc/passwd" | sftp -b - -i agency agency@localhost');
    expect(out.stderr).toContain('not found');
  });

  test('docs/recipes.md: a mounted folder of a NAS', async () => {
    await box().read(`useradd -m studio && install -d -o studio -m 755 /home/studio/video /home/studio/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
install -m 644 /root/.ssh/id_ed25519.pub /home/studio/.ssh/authorized_keys`);
    await follow(box(), 'Mount a folder of a NAS', key);
    expect(await box().read('findmnt -n -o FSTYPE /srv/media/nas')).toBe('fuse.sshfs');
    const others = page.match(/^(?:\/\/nas|nas\.).*$/gm) ?? [];
    await box().read(`printf '%s\\n' ${others.map(quoted).join(' ')} > /run/fstab`);
    expect(await box().read('findmnt --tab-file /run/fstab -n -o FSTYPE')).toBe('cifs\nnfs');
  });

  test('docs/recipes.md: a proxy, which sees names and no keys', async () => {
    const settings =
      'Port 3128\nListen 127.0.0.1\nConnectPort 443\nLogFile "/run/tinyproxy/requests"\nLogLevel Connect\n';
    await box().read('DEBIAN_FRONTEND=noninteractive apt-get install -y tinyproxy');
    await box().read(`printf ${quoted(settings)} > /etc/tinyproxy/tinyproxy.conf; systemctl restart tinyproxy`);
    await follow(box(), 'A proxy', key);
    const seen = await box().read('cat /run/tinyproxy/requests');
    expect(seen).toContain('CONNECT video.example.com:443');
    expect(seen).not.toContain(key);
  });

  test('docs/recipes.md: several accounts', () => follow(box(), 'Several accounts', key));

  test('docs/recipes.md: once from cron', async () => {
    await follow(box(), 'No service', key);
    expect(await box().read('stat -c %a /root/dropcast/dropcast.key')).toBe('600');
  });
}

/** Follows the steps of a section, with a video that is new to the service. */
async function follow(box: Box, heading: string, key: string): Promise<void> {
  await dropVideo(box, '/root/clip.mp4');
  const at = page.indexOf(`\n## ${heading}`);
  const end = page.indexOf('\n## ', at + 1);
  const lineOf = (index: number): number => page.slice(0, index).split('\n').length;
  const steps = stepsOf(page).filter(({ line }) => line > lineOf(at) && (end < 0 || line < lineOf(end)));
  expect(steps.length, heading).toBeGreaterThan(1);
  for (const step of steps) await expectStep(box, step, key);
}

/** Runs the step with the input of a person: the key or password that it asks for, else yes. */
async function expectStep(box: Box, { line, commands, shown }: Step, key: string): Promise<void> {
  const isForKey = commands.includes('--key-file -');
  const input = isForKey ? `${key}\n` : /smbpasswd|smbclient \//.test(commands) ? passwords : 'y\ny\n';
  // A minute instead of ten: cron looks at its table once a minute.
  const typed = commands.replace("'*/10 ", "'* ");
  const { code, stdout, stderr } = await box.run(
    `export NODE_EXTRA_CA_CERTS=${authority}; cd /root; cat | { set -e; ${typed}}`,
    { input },
  );
  expect(code, `docs/recipes.md:${line} printed\n${stdout}${stderr}`).toBe(0);
  if (shown?.language === 'text')
    expect(isAsShown(stdout, shown), `docs/recipes.md:${line} printed\n${stdout}`).toBe(true);
}

/** The authority of the video service. A public service needs no such file. */
const authority = '/etc/ssl/video.pem';
const passwords = 'a password\na password\n';

/** The video service of the package at https://video.example.com, trusted by the machine. */
async function startService(box: Box): Promise<string> {
  const address = '--host 127.0.0.1 --expose --port 443 --tls --external-url https://video.example.com';
  const rest = '--data /var/lib/sandbox --requests-per-hour 1000000 --json';
  await box.read(`systemd-run -q --unit sandbox -p StandardOutput=file:/run/sandbox.json -p StandardError=journal dropcast sandbox ${address} ${rest}
until [ -s /run/sandbox.json ]; do sleep 0.1; done`);
  const { api_key: key, ca_path: ca } = JSON.parse(await box.read('cat /run/sandbox.json')) as Record<string, string>;
  await box.read(`cp ${ca} ${authority} && mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\\nDefaultEnvironment=NODE_EXTRA_CA_CERTS=${authority}\\n' > /etc/systemd/system.conf.d/authority.conf
systemctl daemon-reexec
echo NODE_EXTRA_CA_CERTS=${authority} >> /etc/environment
echo 'Defaults env_keep += NODE_EXTRA_CA_CERTS' > /etc/sudoers.d/authority`);
  return key ?? '';
}
