import { readAuthorities } from './authorities.ts';
import { passwordIn } from './ledger-address.ts';
import { error, warning, type Finding } from './problem.ts';
import { property, textOf } from './raw-tree.ts';
import { secret, type Secret } from './secret.ts';
import { lookUp, type SecretKey, type SecretSource } from './secret-source.ts';

/** The password and certificates for a PostgreSQL ledger. */
export interface LedgerSecrets {
  readonly password: Secret | null;
  /** Trusted certificate authorities as PEM text; null for the system's. */
  readonly ca: string | null;
  /**
   * Why something could not be read, in a command that can do without it; null if everything was read or nothing is
   * configured.
   */
  readonly unread: string | null;
}

/**
 * Reads the ledger password and the certificate authorities for its server. Findings never contain any part of the
 * password.
 */
export async function resolveLedgerSecrets(
  tree: unknown,
  source: SecretSource,
): Promise<{ readonly secrets: LedgerSecrets; readonly findings: readonly Finding[] }> {
  const ledger = property(tree, 'ledger');
  const password = await resolvePassword(ledger, source);
  const ca = await readAuthorities(['ledger', 'ca'], textOf(property(ledger, 'ca')), source);
  return {
    secrets: { password: password.value === null ? null : secret(password.value), ca: ca.text, unread: null },
    findings: [...password.findings, ...ca.findings],
  };
}

/**
 * Reads the secrets for a command that needs them only while no daemon is running. Someone who only operates a daemon
 * need not be able to read them.
 */
export async function ledgerSecretsIfReadable(tree: unknown, source: SecretSource): Promise<LedgerSecrets> {
  const { secrets, findings } = await resolveLedgerSecrets(tree, source);
  const refused = findings.find(({ severity }) => severity === 'error');
  return { ...secrets, unread: refused === undefined ? null : `${refused.path.join('.')}: ${refused.message}` };
}

async function resolvePassword(
  ledger: unknown,
  source: SecretSource,
): Promise<{ readonly value: string | null; readonly findings: readonly Finding[] }> {
  const isPlain = typeof ledger === 'string';
  const inAddress = passwordIn((isPlain ? ledger : textOf(property(ledger, 'url'))) ?? '');
  const beside = property(ledger, 'password');
  const path = isPlain ? ['ledger'] : ['ledger', inAddress === null ? 'password' : 'url'];
  if (inAddress !== null && beside !== undefined) {
    const twice = 'the password is written twice; remove the one in the address';
    return { value: null, findings: [error(['ledger', 'password'], twice)] };
  }
  const found = await lookUp(inAddress ?? beside, passwordKey, source);
  const warnings = found.warning === undefined ? [] : [warning(path, found.warning)];
  if (found.refusal === undefined) return { value: found.value ?? null, findings: warnings };
  return { value: null, findings: [...warnings, error(path, found.refusal)] };
}

const passwordKey: SecretKey = {
  noun: 'password',
  what: 'the password of the ledger',
  exampleVariable: 'LEDGER_PASSWORD',
  exampleCredential: 'ledger_password',
  isText: true,
  refuse: () => null,
};
