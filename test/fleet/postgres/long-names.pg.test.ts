import { longNamesContract } from '../../ledger/long-names-contract.ts';
import { openShared } from './open-shared.ts';

longNamesContract(openShared);
