import type { SecretOrigin } from './config.ts';
import { variable, type Environment } from './environment.ts';
import { ledgerSecretsIfReadable, resolveLedgerSecrets, type LedgerSecrets } from './ledger-secrets.ts';
import { resolveNotifySecrets } from './notify-secrets.ts';
import { error, warning, type Finding } from './problem.ts';
import { property, TaggedValue } from './raw-tree.ts';
import { secret, type Secret } from './secret.ts';
import { lookUp, type SecretKey, type SecretSource } from './secret-source.ts';

/** The secrets of a configuration, as `assemble` wants them. */
export interface Secrets {
  readonly apiKey: Secret;
  readonly apiKeyFrom: SecretOrigin;
  readonly webhookSecret: Secret | null;
  readonly ledger: LedgerSecrets;
  /** Of the targets of `notify`, by key. */
  readonly notify: ReadonlyMap<string, Secret>;
}

interface ResolvedSecret {
  readonly secret: Secret | null;
  readonly origin: SecretOrigin;
  readonly findings: readonly Finding[];
}

/**
 * Finds every secret that the tree refers to. No finding holds any part of one.
 *
 * @param use `without key` reads only what a ledger needs, if it may, and gives an empty key
 * @returns `secrets` is null when there is no key
 */
export async function resolveSecrets(
  tree: unknown,
  source: SecretSource,
  use: 'with key' | 'without key',
): Promise<{ readonly secrets: Secrets | null; readonly findings: readonly Finding[] }> {
  if (use === 'without key')
    return {
      secrets: {
        apiKey: secret(''),
        apiKeyFrom: 'file',
        webhookSecret: null,
        ledger: await ledgerSecretsIfReadable(tree, source),
        notify: new Map(),
      },
      findings: [],
    };
  const service = property(tree, 'service');
  const key = await resolveApiKey(property(service, 'api_key'), source);
  const webhook = await resolveWebhookSecret(property(service, 'webhook_secret'), source);
  const ledger = await resolveLedgerSecrets(tree, source);
  const notify = await resolveNotifySecrets(tree, source);
  const findings = [...key.findings, ...webhook.findings, ...ledger.findings, ...notify.findings];
  if (key.secret === null) return { secrets: null, findings };
  return {
    secrets: {
      apiKey: key.secret,
      apiKeyFrom: key.origin,
      webhookSecret: webhook.secret,
      ledger: ledger.secrets,
      notify: notify.secrets,
    },
    findings,
  };
}

/** Finds the key that `service.api_key` stands for. */
export function resolveApiKey(raw: unknown, source: SecretSource): Promise<ResolvedSecret> {
  return resolve(raw, apiKey, source);
}

const apiKey: SecretKey = {
  path: ['service', 'api_key'],
  noun: 'key',
  what: 'the API key',
  exampleVariable: 'DROPCAST_API_KEY',
  exampleCredential: 'api_key',
  // It goes into a header as it is: printable ASCII without spaces (RFC 9110, 5.5 and RFC 6750, 2.1), which `lookUp` checks.
  refuse: () => null,
};

/** Finds the secret that `service.webhook_secret` stands for. There need not be one. */
export function resolveWebhookSecret(raw: unknown, source: SecretSource): Promise<ResolvedSecret> {
  return resolve(raw === 'off' ? undefined : raw, webhookSecret, source);
}

const webhookSecret: SecretKey = {
  path: ['service', 'webhook_secret'],
  noun: 'secret',
  what: 'the webhook secret',
  exampleVariable: 'DROPCAST_WEBHOOK_SECRET',
  exampleCredential: 'webhook_secret',
  refuse: (value) =>
    /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(value)
      ? null
      : 'is not a webhook secret, which is whsec_ followed by base64',
};

async function resolve(raw: unknown, key: SecretKey, source: SecretSource): Promise<ResolvedSecret> {
  const found = await lookUp(raw, key, source);
  const findings = found.warning === undefined ? [] : [warning(key.path, found.warning)];
  const origin = originOf(raw, source.environment);
  if (found.value !== undefined) return { secret: secret(found.value), origin, findings };
  return { secret: null, origin, findings: found.refusal === undefined ? findings : [error(key.path, found.refusal)] };
}

function originOf(raw: unknown, environment: Environment): SecretOrigin {
  if (!(raw instanceof TaggedValue) || raw.tag === 'file') return 'file';
  if (raw.tag === 'env') return 'environment';
  return variable(environment, 'CREDENTIALS_DIRECTORY') === undefined ? 'file' : 'credential';
}
