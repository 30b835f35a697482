export type { Html } from './html.ts';
