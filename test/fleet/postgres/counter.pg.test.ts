import { counterContract } from '../../ledger/counter-contract.ts';
import { openShared } from './open-shared.ts';

counterContract(openShared);
