import { openInFile } from './opened-rows.ts';
import { snapshotContract } from './snapshot-contract.ts';

snapshotContract(openInFile);
