import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { Extension } from '@peculiar/x509';

/** PEM texts: a CA certificate, and a server key with the certificate that this CA issued. */
export interface Issued {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Creates a CA and one server certificate from it, both with P-256 keys. A self-signed server certificate would not do:
 * OpenSSL's strict mode and Chromium refuse it. The CA's private key is discarded immediately, so trusting the CA means
 * trusting only this one certificate.
 *
 * @param names DNS names and IP addresses that the certificate is valid for
 * @param nowMs ms since 1970; the certificate is valid for a year from then
 */
export async function issueCertificate(names: readonly string[], nowMs: number): Promise<Issued> {
  const x509 = await loadX509();
  const [authority, server] = await Promise.all([makeKeys(), makeKeys()]);
  const issuer = { name: `CN=dropcast sandbox ${randomBytes(4).toString('hex')}`, keys: authority };
  const common = { x509, nowMs, issuer };
  const ca = await signed(common, {
    name: issuer.name,
    publicKey: authority.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const cert = await signed(common, {
    name: 'CN=dropcast sandbox',
    publicKey: server.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map(generalName)),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  });
  const key = KeyObject.from(server.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { ca, cert, key };
}

/** Loaded lazily: it takes some 70 ms, and only `--tls` needs it. */
async function loadX509() {
  await import('reflect-metadata/lite'); // which @peculiar/x509 expects to be there
  return import('@peculiar/x509');
}

const KEY_TYPE = { name: 'ECDSA', namedCurve: 'P-256' };

function makeKeys(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_TYPE, true, ['sign', 'verify']);
}

interface Common {
  readonly x509: Awaited<ReturnType<typeof loadX509>>;
  readonly nowMs: number;
  readonly issuer: { readonly name: string; readonly keys: CryptoKeyPair };
}

interface Subject {
  readonly name: string;
  readonly publicKey: CryptoKey;
  readonly extensions: readonly Extension[];
}

type CryptoKey = webcrypto.CryptoKey;
type CryptoKeyPair = webcrypto.CryptoKeyPair;

/** @returns the certificate as PEM */
async function signed({ x509, nowMs, issuer }: Common, subject: Subject): Promise<string> {
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(15).toString('hex')}`, // positive, as RFC 5280 section 4.1.2.2 requires
    subject: subject.name,
    issuer: issuer.name,
    notBefore: new Date(nowMs - BACKDATED_MS),
    notAfter: new Date(nowMs + VALID_MS),
    publicKey: subject.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: { ...KEY_TYPE, hash: 'SHA-256' },
    extensions: [...subject.extensions, await x509.SubjectKeyIdentifierExtension.create(subject.publicKey)],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Validity, below the 398 days that browsers accept from any CA. */
const VALID_MS = 365 * 86_400_000;
/** Backdating, for clients with a slow clock. */
const BACKDATED_MS = 3_600_000;

function generalName(name: string): { type: 'dns' | 'ip'; value: string } {
  return { type: isIP(name) === 0 ? 'dns' : 'ip', value: name };
}
