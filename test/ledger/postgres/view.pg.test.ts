import { viewContract } from '../view-contract.ts';
import { openShared } from './open-shared.ts';

viewContract(openShared);
