import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownAddresses, ownIPv4, ownIPv6 } from '../../../packages/client/src/upload/own-addresses.ts';
import { reachHere } from '../../../packages/client/src/upload/reach.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../../packages/client/src/upload/own-addresses.ts');
const numbers: Readonly<Record<string, number>> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 };

async function familiesOfTheUnit(): Promise<readonly string[]> {
  const unit = await readFile(join(import.meta.dirname, '../../../systemd/dropcast.service'), 'utf8');
  const [, names = ''] = /^RestrictAddressFamilies=(.*)$/m.exec(unit) ?? [];
  return names.split(' ').map((name) => String(numbers[name]));
}

test.skipIf(!existsSync('/usr/bin/cc'))(
  "the service learns this machine's addresses under the address families of its unit",
  async () => {
    await using folder = await scratchDirectory();
    const confined = join(folder.path, 'confined');
    await run('/usr/bin/cc', ['-o', confined, join(import.meta.dirname, 'allowed-families.c')]);
    const program = `
    import { networkInterfaces } from 'node:os';
    import { ownAddresses } from ${JSON.stringify(source)};
    let isTold = true;
    try { networkInterfaces(); } catch { isTold = false; }
    console.log(JSON.stringify({ isTold, own: ownAddresses() }));`;
    const node = [process.execPath, '--input-type=module', '--eval', program];
    const { stdout } = await run(confined, [...(await familiesOfTheUnit()), '--', ...node]);
    const { isTold, own } = JSON.parse(stdout) as { isTold: boolean; own: string[] };
    // Else this proves nothing.
    expect(isTold).toBe(false);
    for (const address of ownAddresses())
      expect([address, reachHere(address, () => own)]).not.toEqual([address, 'public']);
    expect(own).toContain('127.0.0.1');
    expect(new Set(own.map((address) => reachHere(address, ownAddresses)))).not.toContain('public');
  },
);

describe('what Linux writes about its addresses', () => {
  test('names those of IPv4', () => {
    const trie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 203.0.113.0/24 2 0 2
        |-- 203.0.113.0
           /24 link UNICAST
        |-- 203.0.113.50
           /32 host LOCAL
        |-- 203.0.113.255
           /32 link BROADCAST
`;
    expect(ownIPv4(trie)).toEqual(['203.0.113.50']);
  });

  test('names those of IPv6', () => {
    const text = `20010db8000000000000000000000005 04 40 00 80     eth0
00000000000000000000000000000001 01 80 10 80       lo
`;
    expect(ownIPv6(text).map((address) => reachHere(address, () => ['2001:db8::5']))).toEqual(['loopback', 'loopback']);
  });
});
