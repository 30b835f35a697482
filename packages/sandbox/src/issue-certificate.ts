import { generateKeyPair, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type Forge from 'node-forge';
import type { pki } from 'node-forge';

/** PEM texts: the certificate of an authority, and a key with its certificate from that authority. */
export interface Issued {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * An authority of its own and a server certificate from it: OpenSSL's strict mode and Chromium refuse a certificate that is
 * its own authority. The authority's key is forgotten at once, so whoever trusts it trusts this one certificate and nothing
 * that could come later.
 *
 * @param names DNS names and addresses that it is valid for
 * @param nowMs when its year begins, ms since 1970
 */
export async function issueCertificate(names: readonly string[], nowMs: number): Promise<Issued> {
  const { default: forge } = await import('node-forge'); // here and not above: it takes 40 ms, and few want https
  const [authority, server] = await Promise.all([makeKeys(), makeKeys()]);
  const authorityName = `dropcast sandbox ${randomBytes(4).toString('hex')}`;
  const from = { forge, nowMs, authorityName, key: forge.pki.privateKeyFromPem(authority.privateKey) };
  const root = signed(from, { name: authorityName, publicKey: authority.publicKey, extensions: rootExtensions });
  const keyIdentifier = root.generateSubjectKeyIdentifier().getBytes();
  const leaf = signed(from, {
    name: 'dropcast sandbox',
    publicKey: server.publicKey,
    extensions: [...leafExtensions(names), { name: 'authorityKeyIdentifier', keyIdentifier }],
  });
  const pem = (certificate: pki.Certificate) => forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
  return { ca: pem(root), cert: pem(leaf), key: server.privateKey };
}

/** By Node, off the main thread: node-forge makes RSA keys in seconds. It cannot sign with any other kind. */
function makeKeys(): Promise<{ publicKey: string; privateKey: string }> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

interface Authority {
  readonly forge: typeof Forge;
  readonly nowMs: number;
  readonly authorityName: string;
  readonly key: pki.rsa.PrivateKey;
}

interface Subject {
  readonly name: string;
  readonly publicKey: string;
  readonly extensions: readonly Extension[];
}

function signed({ forge, nowMs, authorityName, key }: Authority, subject: Subject): pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(subject.publicKey);
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`; // positive, as RFC 5280 section 4.1.2.2 wants it
  certificate.validity = { notBefore: new Date(nowMs - BACKDATED_MS), notAfter: new Date(nowMs + VALID_MS) };
  certificate.setSubject([{ name: 'commonName', value: subject.name }]);
  certificate.setIssuer([{ name: 'commonName', value: authorityName }]);
  certificate.setExtensions([...subject.extensions, { name: 'subjectKeyIdentifier' }]);
  certificate.sign(key, forge.md.sha256.create());
  return certificate;
}

/** Below the 398 days that browsers accept from any authority. */
const VALID_MS = 365 * 86_400_000;
/** For clients whose clock is behind. */
const BACKDATED_MS = 3_600_000;

/** As `setExtensions` of node-forge takes them. */
type Extension = Readonly<Record<string, unknown>>;

const rootExtensions: Extension[] = [
  { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
  { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
];

function leafExtensions(names: readonly string[]): Extension[] {
  return [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: names.map(altName) },
  ];
}

/** The types of a GeneralName: 2 dNSName, 7 iPAddress (RFC 5280 section 4.2.1.6). */
function altName(name: string): Extension {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}
