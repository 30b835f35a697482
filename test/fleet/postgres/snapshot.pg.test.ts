import { snapshotContract } from '../../ledger/snapshot-contract.ts';
import { openShared } from './open-shared.ts';

snapshotContract(openShared);
