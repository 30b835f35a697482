import { selectionContract } from '../../ledger/selection-contract.ts';
import { openShared } from './open-shared.ts';

selectionContract(async (files) => {
  const opened = await openShared();
  const { rows } = opened;
  for (const facts of files) await rows.insert(facts);
  return {
    selection: rows.selection,
    count: rows.count,
    add: (facts) => rows.insert(facts),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
});
