import { parseLedgerAddress, passwordIn } from '../../../src/config/addresses.ts';
import type { PostgresPlace } from '../../../src/fleet/postgres/client-config.ts';

/** What the configuration would say for an address of `freshDatabase` or of a cluster. */
export function placeAt(url: string, more: Partial<PostgresPlace> = {}): PostgresPlace {
  const address = parseLedgerAddress(url);
  if (!address.ok) throw new Error(address.message);
  const password = passwordIn(url);
  return {
    ...address.value,
    password: password === null ? null : { reveal: () => password },
    ca: null,
    tls: false,
    ...more,
  };
}
