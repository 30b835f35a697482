import { resolveSecret, type ResolvedSecret, type SecretKey, type SecretSource } from './secret-source.ts';

/** Finds the key that `service.api_key` stands for. No message holds any part of it. */
export function resolveApiKey(raw: unknown, source: SecretSource): Promise<ResolvedSecret> {
  return resolveSecret(raw, apiKey, source);
}

const apiKey: SecretKey = {
  path: ['service', 'api_key'],
  noun: 'key',
  what: 'the API key',
  exampleVariable: 'DROPCAST_API_KEY',
  exampleCredential: 'api_key',
  // It goes into a header as it is: printable ASCII without blanks (RFC 9110, 5.5 and RFC 6750, 2.1).
  judge: () => null,
};
