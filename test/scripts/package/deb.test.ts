import { expect, test } from 'vitest';
import { packagedConfig } from '../../../scripts/package/contents.ts';
import { architectureOf } from '../../../scripts/package/architecture.ts';
import { controlFiles } from '../../../scripts/package/deb.ts';
import { directoriesOf } from '../../../scripts/package/packaged-file.ts';

const deb = {
  version: '1.2.3',
  architecture: architectureOf('amd64'),
  files: [
    { path: 'usr/bin/x', content: 'abc', mode: 0o755 },
    { path: 'etc/x/x.yaml', content: 'a: 1\n' },
    { path: 'etc/empty/', content: '' },
  ],
  scripts: { postinst: '#!/bin/sh\n' },
  epochSeconds: 0,
};
const control = new Map(controlFiles(deb).map((file) => [file.path, file]));

test('what lies in etc is the administrators: dpkg asks before it changes it, and keeps it when the package is removed', () => {
  expect(control.get('DEBIAN/conffiles')?.content).toBe('/etc/x/x.yaml\n');
});

test('the sums are of all other files', () => {
  expect(control.get('DEBIAN/md5sums')?.content).toBe('900150983cd24fb0d6963f7d28e17f72  usr/bin/x\n');
});

test('the control file names what Node is linked with', () => {
  expect(control.get('DEBIAN/control')?.content).toMatch(
    /^Depends: libc6 \(>= 2\.28\), libstdc\+\+6, libgcc-s1, libatomic1, ca-certificates/m,
  );
  expect(control.get('DEBIAN/control')?.content).toContain('Version: 1.2.3\nArchitecture: amd64\n');
  expect(control.get('DEBIAN/control')?.content).toMatch(/^Installed-Size: \d+$/m);
});

test('scripts of the maintainer can be run', () => {
  expect(control.get('DEBIAN/postinst')?.mode).toBe(0o755);
});

test('directories are listed from the outside to the inside', () => {
  expect(directoriesOf(deb.files)).toEqual(['.', 'etc', 'etc/empty', 'etc/x', 'usr', 'usr/bin']);
});

test('a machine that no package is made for is refused', () => {
  expect([architectureOf('amd64').rpm, architectureOf('arm64').rpm]).toEqual(['x86_64', 'aarch64']);
  expect(() => architectureOf('riscv64')).toThrow('riscv64');
});

test('the installed configuration takes the key from systemd and leaves the state directory to the unit', () => {
  const example = `# yaml-language-server: $schema=./config.schema.json
service:
  api_key: !env DROPCAST_API_KEY
  webhook_secret: off
state_dir: /var/lib/dropcast
`;
  expect(packagedConfig(example)).toBe(`# yaml-language-server: $schema=/usr/lib/dropcast/config.schema.json
service:
  api_key: !credential api_key
  webhook_secret: off
# state_dir: /var/lib/dropcast
`);
  expect(() => packagedConfig(example.replace('api_key', 'key'))).toThrow('config.example.yaml has no line like');
});
