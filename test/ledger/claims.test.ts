import { expect, test } from 'vitest';
import { createClaims } from '../../src/ledger/claims.ts';
import { someFacts } from '../pipeline/some-facts.ts';

// All else that claims do is in store-contract.ts.
test('a row that cannot be read is not claimed, and stays free', async () => {
  let isBroken = true;
  const claims = createClaims(async () => {
    if (isBroken) throw new Error('unreadable');
    return someFacts();
  });
  await expect(claims.claim('f_1')).rejects.toThrow('unreadable');
  isBroken = false;
  expect((await claims.claim('f_1'))?.facts).toEqual(someFacts());
});

test('a claim that was cleared while its row was read is lost from the start', async () => {
  const read = Promise.withResolvers<void>();
  const claims = createClaims(async () => {
    await read.promise;
    return someFacts();
  });
  const claiming = claims.claim('f_1');
  claims.clear();
  read.resolve();
  const claim = await claiming;
  expect([await claim?.renew(), claim?.lost.aborted]).toEqual([false, true]);
});
