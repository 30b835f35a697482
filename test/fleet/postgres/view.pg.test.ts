import { viewContract } from '../../ledger/view-contract.ts';
import { openShared } from './open-shared.ts';

viewContract(openShared);
