import { newsContract } from './news-contract.ts';
import { openInFile } from './opened-rows.ts';

newsContract(openInFile);
