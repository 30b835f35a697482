import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { Certificate } from './http/server.ts';
import { plainHost } from './loopback.ts';
import { issueCertificate, type Issued } from './issue-certificate.ts';

export interface CertificateOptions {
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
export type KeptCertificate = Certificate & { readonly caPath: string };

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
