/** The address of the database, and our login. Type of `ledger` in the configuration. */
export interface PostgresPlace {
  /** A name, an IP address, or the absolute directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: { reveal(): string } | null;
  /** PEM text of the authorities to trust; null: those of the system. */
  readonly ca: string | null;
  /** The certificate must be for `host`. */
  readonly tls: boolean;
}

/** For display: `PostgreSQL at db.example.com`. */
export function nameOf({ host, port }: PostgresPlace): string {
  return `PostgreSQL at ${host}${port === 5432 || host.startsWith('/') ? '' : `:${port}`}`;
}
