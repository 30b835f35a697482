import { expect, test } from 'vitest';
import { dependsOnKeys, isOf } from '../../../scripts/release/sums.ts';

test.each([
  'apt/pool/main/d/dropcast/dropcast_0.1.0_amd64.deb',
  'rpm/x86_64/dropcast-0.1.0-1.x86_64.rpm',
  'images/dropcast-sandbox-0.1.0.oci.tar',
  'macos/dropcast-0.1.0-macos-arm64.tar.gz',
  'man/dropcast-0.1.0-man.tar.gz',
  'sbom/dropcast-0.1.0.cdx.json',
])('%s is of version 0.1.0 only', (path) => {
  expect(['0.1.0', '0.1', '1.0', '0.1.1', '10.1.0'].filter((version) => isOf(version, path))).toEqual(['0.1.0']);
});

test.each(['0.1.0.1', '0.1.0~next', '0.1.0-rc.1', '0.1.0+git'])('a package of %s is not of 0.1.0', (version) => {
  expect(isOf('0.1.0', `apt/pool/main/d/dropcast/dropcast_${version}_amd64.deb`)).toBe(false);
});

test('an index is of no version', () => {
  expect(isOf('0.1.0', 'apt/dists/stable/main/binary-amd64/Packages.gz')).toBe(false);
});

test('keys, signatures and the checksums themselves depend on the keys', () => {
  const signed = ['keys/minisign.pub', 'apt/dists/stable/InRelease', 'apt/dists/stable/Release.gpg'];
  const paths = [...signed, 'rpm/x86_64/repodata/repomd.xml.asc', 'SHA256SUMS', 'SHA256SUMS.minisig'];
  const others = ['apt/dists/stable/Release', 'rpm/x86_64/repodata/repomd.xml', 'rpm/dropcast.repo'];
  expect([...paths, ...others].filter((path) => !dependsOnKeys(path))).toEqual(others);
});
