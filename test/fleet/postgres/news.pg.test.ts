import { newsContract } from '../../ledger/news-contract.ts';
import { openShared } from './open-shared.ts';

newsContract(openShared);
