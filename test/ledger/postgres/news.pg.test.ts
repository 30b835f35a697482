import { newsContract } from '../news-contract.ts';
import { openShared } from './open-shared.ts';

newsContract(openShared);
