import { storeContract } from '../ledger/store-contract.ts';
import { MemoryStore } from './memory-store.ts';

storeContract(async () => ({ store: new MemoryStore(), [Symbol.asyncDispose]: async () => undefined }));
