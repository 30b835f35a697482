import { createClaims } from '../../../src/ledger/claims.ts';
import { storeContract } from '../../ledger/store-contract.ts';
import { openShared } from './open-shared.ts';

storeContract(async () => {
  const opened = await openShared();
  const { rows } = opened;
  return {
    store: { ...rows, claim: createClaims(rows.load).claim },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
});
