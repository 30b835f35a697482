import { counterContract } from './counter-contract.ts';
import { openInFile } from './opened-rows.ts';

counterContract(openInFile);
