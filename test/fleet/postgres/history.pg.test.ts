import { historyContract } from '../../ledger/history-contract.ts';
import { openShared } from './open-shared.ts';

historyContract(openShared);
