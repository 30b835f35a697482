import { auditContract } from '../../ledger/audit-contract.ts';
import { openShared } from './open-shared.ts';

auditContract(openShared);
