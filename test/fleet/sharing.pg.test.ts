import { sharingContract } from '../daemon/sharing-contract.ts';
import { freshDatabase } from '../support/postgres/server.ts';
import { placeAt } from '../support/postgres/place.ts';

sharingContract(async () => {
  const database = await freshDatabase();
  return {
    ledger: { ...placeAt(database.url), url: database.url, unread: null },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
