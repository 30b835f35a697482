import { historyContract } from '../history-contract.ts';
import { openShared } from './open-shared.ts';

historyContract(openShared);
