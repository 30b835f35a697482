import { counterContract } from '../counter-contract.ts';
import { openShared } from './open-shared.ts';

counterContract(openShared);
