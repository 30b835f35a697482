import { describe, expect, test } from 'vitest';

import { createScrub, scrubAddresses, secretsOfAddress } from '../../../packages/client/src/transport/scrub.ts';

describe('scrubbing a text', () => {
  test.each([
    ['see https://up.example.com/u/tok?sig=1 now', 'see https://up.example.com/… now'],
    ['at https://user:pass@up.example.com/u', 'at https://up.example.com/…'],
    ['(http://127.0.0.1:8080), then', '(http://127.0.0.1:8080), then'],
    ['https://up.example.com/a,b;c?x=1,2', 'https://up.example.com/…'],
    ['HTTPS://UP.example.com/x', 'https://up.example.com/…'],
    ['Authorization: Bearer sk_live_123', 'Authorization: Bearer [secret]'],
    ['for https%3A%2F%2Fup.example.com%2Fu%2Ftok%3Fsig%3D1 now', 'for https%3A%2F%2F… now'],
    ['?next=HTTPS%3a%2f%2fup.example.com%2Fu', '?next=HTTPS%3a%2f%2f…'],
    ['nothing to hide', 'nothing to hide'],
  ])('%s becomes %s', (text, expected) => {
    expect(scrubAddresses(text)).toBe(expected);
  });

  test('knows the pieces of a signed address, encoded or not', () => {
    const scrub = createScrub(
      secretsOfAddress('https://up.example.com/bucket-of-us/key%2Fwith%20space?X-Sig=ab%2Bcdefgh%3D&v=1'),
    );
    expect(scrub('for key/with space')).toBe('for [secret]');
    expect(scrub('sig ab+cdefgh= or ab%2Bcdefgh%3D')).toBe('sig [secret] or [secret]');
    expect(scrub('v=1 of bucket-of-us')).toBe('v=1 of [secret]');
  });

  test('knows a key that is echoed', () => {
    expect(createScrub(['sk_live_0123456789'])('key sk_live_0123456789 is revoked')).toBe('key [secret] is revoked');
  });

  test('leaves a text alone when a secret is empty or a short word', () => {
    expect(createScrub(['', 'v1', 'upload'])('an upload to v1')).toBe('an upload to v1');
  });
});
