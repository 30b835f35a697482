import { warning, type Finding } from './finding.ts';
import { property } from './raw-tree.ts';
import { resolveSecret, type ResolvedSecret, type SecretKey, type SecretSource } from './secret-source.ts';

/** Finds the secret that `service.webhook_secret` stands for; there need not be one. No message holds any part of it. */
export function resolveWebhookSecret(raw: unknown, source: SecretSource): Promise<ResolvedSecret> {
  return resolveSecret(raw === OFF ? undefined : raw, webhookSecret, source);
}

const OFF = 'off';

const webhookSecret: SecretKey = {
  path: ['service', 'webhook_secret'],
  noun: 'secret',
  what: 'the secret of the webhook',
  exampleVariable: 'DROPCAST_WEBHOOK_SECRET',
  exampleCredential: 'webhook_secret',
  judge: (value) =>
    /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(value) ? null : 'is not whsec_ and base64, as the service shows it',
};

/** Webhooks arrive where the status page is. */
export function checkWebhookUse(tree: unknown): Finding[] {
  const secret = property(property(tree, 'service'), 'webhook_secret');
  const isListening = property(property(tree, 'status'), 'listen') !== 'off';
  if (secret === undefined || secret === OFF || isListening) return [];
  return [
    warning(webhookSecret.path, 'has no use while status.listen is off: webhooks arrive where the status page is'),
  ];
}
