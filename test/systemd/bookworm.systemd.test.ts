import { checklist } from './checklist.ts';

await checklist('Debian 12', 'bookworm');
