import { seededToken } from '../seeded.ts';

export interface Client {
  readonly remoteAddress: string;
  readonly userAgent: string;
}

/**
 * The viewer that a program is taken for when it has no cookie: its address and user agent, as podcast measurement does
 * it. assumed: the specification counts unique viewers (section 2.5) without saying who one is. Only a hash is kept.
 */
export function viewerFrom({ remoteAddress, userAgent }: Client, seed: number): string {
  return `client_${seededToken(seed, ['viewer', remoteAddress, userAgent], 20)}`;
}
