import type { SandboxSettings } from './options.ts';
import type { Records } from './records.ts';
import { addDemoData } from './seed-data.ts';
import { seededToken } from './seeded.ts';

/** The key that a new account has. The same seed gives the same one; all others are drawn at random. */
export function firstKey({ apiKey, seed }: Pick<SandboxSettings, 'apiKey' | 'seed'>): string {
  return apiKey ?? `sk_sandbox_${seededToken(seed, ['api key'], 32)}`;
}

/** What a new account has: its first key, and the demo's channels and feeds if wanted. Does nothing to what is there already. */
export function openAccount(records: Records, settings: SandboxSettings, nowMs: number): void {
  records.keys.add({ value: firstKey(settings), name: 'sandbox', isReadOnly: false }, nowMs);
  if (settings.seedData === 'demo') addDemoData(records.channels, records.feeds, nowMs);
}
