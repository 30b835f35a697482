import { snapshotContract } from '../snapshot-contract.ts';
import { openShared } from './open-shared.ts';

snapshotContract(openShared);
