/** Database address and login. Type of `ledger` in the configuration. */
export interface PostgresPlace {
  /** Host name, IP address, or absolute path of the directory with a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: { reveal(): string } | null;
  /** PEM text of the certificate authorities to trust; null: the system's. */
  readonly ca: string | null;
  /** Whether to use TLS. The certificate must be for `host`. */
  readonly tls: boolean;
}

/** Returns the display name, such as `PostgreSQL at db.example.com`. */
export function nameOf({ host, port }: PostgresPlace): string {
  return `PostgreSQL at ${host}${port === 5432 || host.startsWith('/') ? '' : `:${port}`}`;
}
