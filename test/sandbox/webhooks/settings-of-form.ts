import type { Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import type { Settings } from '../../support/configuration.ts';

/** The keys with which a daemon accepts webhooks in this form: the table of docs/configuration.md. */
export const settingsOfForm: Readonly<Record<Switches['webhook_form'], Settings['service']>> = {
  standard: {},
  github: { webhook_scheme: 'hmac-hex', webhook_header: 'X-Hub-Signature-256' },
  bunny: { webhook_scheme: 'hmac-hex', webhook_header: 'X-BunnyStream-Signature' },
  mux: { webhook_scheme: 'timestamped' },
  cloudflare: { webhook_scheme: 'timestamped' },
  unsigned: {},
};
