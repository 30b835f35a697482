import { installation } from './installation.ts';

await installation('Debian 12', 'bookworm');
