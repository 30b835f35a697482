import { sharingContract } from './sharing-contract.ts';

sharingContract(async () => ({ ledger: null, [Symbol.asyncDispose]: async () => undefined }));
