import { createPrivateKey, X509Certificate, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { Certificate } from './http/server.ts';
import { plainHost } from './loopback.ts';
import type { Extension } from '@peculiar/x509';

interface CertificateOptions {
  /** Parent of `tls/`, where the certificate is stored. */
  readonly folder: string;
  /** Names or addresses for the certificate, in addition to localhost, 127.0.0.1 and ::1. */
  readonly hosts: readonly string[];
  /**
   * Current time by the system clock, ms since 1970. Clients check the certificate against their own clock, not the
   * sandbox's.
   */
  readonly nowMs: number;
}

/** The server's key and certificate, and the path of the CA certificate that clients must trust. */
type KeptCertificate = Certificate & { readonly caPath: string };

/**
 * Returns the folder's certificate. Issues a new one if there is none, or if the old one expires within a week, is not
 * yet valid (the machine's clock was ahead), is not for this host, or does not match its key or CA. RSA certificates
 * from earlier versions stay in use until then. Only the owner can read the key.
 * @throws the disk's error if the folder cannot be written
 */
export async function certificateIn({ folder, hosts, nowMs }: CertificateOptions): Promise<KeptCertificate> {
  const paths = pathsIn(folder);
  const names = hosts.map(plainHost);
  const kept = await readKept(paths);
  if (kept && isGood(kept, names, nowMs)) return { key: kept.key, cert: kept.cert, caPath: paths.ca };
  const issued = await issueCertificate([...new Set(['localhost', '127.0.0.1', '::1', ...names])], nowMs);
  await mkdir(join(folder, 'tls'), { recursive: true, mode: 0o700 });
  await replace(paths.key, issued.key, 0o600);
  await replace(paths.cert, issued.cert, 0o644);
  await replace(paths.ca, issued.ca, 0o644);
  return { key: issued.key, cert: issued.cert, caPath: paths.ca };
}

type Paths = ReturnType<typeof pathsIn>;

function pathsIn(folder: string) {
  const at = (name: string) => resolve(folder, 'tls', name); // absolute, because it is printed
  return { ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') };
}

async function readKept(paths: Paths): Promise<Issued | undefined> {
  try {
    const [ca, cert, key] = await Promise.all([text(paths.ca), text(paths.cert), text(paths.key)]);
    return { ca, cert, key };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function text(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

/** Whether the stored files are valid and match each other; a crash between two writes leaves files that do not. */
function isGood({ ca, cert, key }: Issued, names: readonly string[], nowMs: number): boolean {
  try {
    const leaf = new X509Certificate(cert);
    const doesFit = leaf.checkPrivateKey(createPrivateKey(key)) && leaf.verify(new X509Certificate(ca).publicKey);
    const hasBegun = leaf.validFromDate.getTime() <= nowMs;
    return (
      doesFit &&
      names.every((name) => isFor(leaf, name)) &&
      hasBegun &&
      leaf.validToDate.getTime() - nowMs > RENEW_BEFORE_MS
    );
  } catch {
    return false; // not PEM at all
  }
}

const RENEW_BEFORE_MS = 7 * 86_400_000;

function isFor(leaf: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) !== undefined;
}

/** Replaces a file atomically. Others can never read it, not even while it is being written. */
async function replace(path: string, content: string, mode: number): Promise<void> {
  await rm(`${path}.new`, { force: true }); // a file that exists would keep its mode
  await writeFile(`${path}.new`, content, { mode, flag: 'wx' });
  await rename(`${path}.new`, path);
}

/** PEM texts: a CA certificate, and a server key with the certificate that this CA issued. */
interface Issued {
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
