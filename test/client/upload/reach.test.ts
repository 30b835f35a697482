import { describe, expect, test } from 'vitest';

import { isAddress, isNearer, reachHere, reachOf } from '../../../packages/client/src/upload/reach.ts';

describe('where an address leads', () => {
  test.each([
    [
      'public',
      ['1.1.1.1', '203.0.113.9', '172.15.255.255', '172.32.0.0', '100.63.0.1', '2606:4700::1111', '2002:101:101::'],
    ],
    [
      'private',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '198.18.0.1', 'fd12::1', 'fec0::1'],
    ],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1', '[::1]']],
    ['forbidden', ['169.254.169.254', '169.254.0.1', '0.0.0.0', '::', '224.0.0.1', '255.255.255.255', 'fe80::1%eth0']],
    // Clouds answer a machine about itself at these too.
    ['forbidden', ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']],
  ] as const)('%s: %j', (reach, addresses) => {
    expect(addresses.map((address) => reachOf(address))).toEqual(addresses.map(() => reach));
  });

  test.each([
    ['mapped', '::ffff:127.0.0.1', 'loopback'],
    ['mapped, in hexadecimal', '::ffff:a9fe:a9fe', 'forbidden'],
    ['mapped, written out', '0:0:0:0:0:ffff:0a00:0001', 'private'],
    ['compatible', '::10.0.0.1', 'private'],
    ['by NAT64', '64:ff9b::169.254.169.254', 'forbidden'],
    ['by NAT64, and public', '64:ff9b::1.1.1.1', 'public'],
    ['by 6to4', '2002:7f00:1::1', 'loopback'],
  ])('IPv4 that is %s is judged as what it is', (_, address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });

  test.each(['', 'example.com', '1.2.3', '2130706433', '::g', '127.0.0.1.evil.example'])(
    '%j is not an address, so it cannot be trusted',
    (text) => {
      expect(isAddress(text)).toBe(false);
      expect(reachOf(text)).toBe('forbidden');
    },
  );
});

test('of two places one is nearer', () => {
  const order = ['public', 'private', 'loopback', 'forbidden'] as const;
  for (const [index, near] of order.entries()) {
    expect(order.map((other) => isNearer(near, other))).toEqual(order.map((_, other) => index > other));
  }
});

describe("this machine's own addresses", () => {
  const own = ['127.0.0.1', '203.0.113.50', '10.1.2.3', '2001:db8::5', 'fe80::1%eth0'];

  test.each([
    ['203.0.113.50', 'loopback'],
    ['::ffff:203.0.113.50', 'loopback'],
    ['2002:cb00:7132::1', 'loopback'],
    ['[2001:db8::5]', 'loopback'],
    ['2001:0db8:0:0:0:0:0:5', 'loopback'],
    ['10.1.2.3', 'loopback'],
    ['10.1.2.4', 'private'],
    ['203.0.113.51', 'public'],
    ['2001:db8::6', 'public'],
    ['fe80::1', 'forbidden'],
  ] as const)('%s is %s', (address, reach) => expect(reachHere(address, () => own)).toBe(reach));
});
