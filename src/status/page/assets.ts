import { assetsAt } from '@dropcast/pages';
import { FILES_STYLE } from './files-style.ts';
import { OWN_STYLE } from './style.ts';

export const assets = assetsAt('/assets', OWN_STYLE + FILES_STYLE);
