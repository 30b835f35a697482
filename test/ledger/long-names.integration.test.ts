import { longNamesContract } from './long-names-contract.ts';
import { openInFile } from './opened-rows.ts';

longNamesContract(openInFile);
