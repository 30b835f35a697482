import { installation } from './installation.ts';

await installation('Debian 13', 'trixie');
