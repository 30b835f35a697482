import { auditContract } from './audit-contract.ts';
import { openInFile } from './opened-rows.ts';

auditContract(openInFile);
