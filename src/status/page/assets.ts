import { assetsAt } from '@dropcast/pages';
import { OWN_STYLE } from './style.ts';

export const assets = assetsAt('/assets', OWN_STYLE);
