import { checklist } from './checklist.ts';

await checklist('Debian 13', 'trixie');
