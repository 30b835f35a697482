import { z } from 'zod';
import { LEDGER_FORM, parseLedgerAddress } from './ledger-address.ts';
import { parsed, path, secret } from './schema-values.ts';

const address = () =>
  parsed(LEDGER_FORM, parseLedgerAddress, { examples: ['postgres://dropcast@db.example.com/dropcast'] });

const mapping = z.strictObject({
  url: address().describe('Address of the PostgreSQL database: postgres://USER@HOST:PORT/DATABASE.'),
  password: secret('password', 'Password of the user. Written like the key.').optional(),
  ca: path.optional().describe('PEM file with the certificate authorities to trust. Default: those of the system.'),
  tls: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'false sends everything in plain text. Default: true, but false for Unix sockets and loopback addresses without ca.',
    ),
});

/** Where the ledger is. Its address alone, or with more to say. */
export const ledger = z.union([address().transform((url): z.output<typeof mapping> => ({ url })), mapping]);

const NAME_FORM = 'a name in quotes';

export const hostName = parsed(NAME_FORM, parseMemberName, { examples: ['ingest1'] });

function parseMemberName(text: string): { ok: true; value: string } | { ok: false; message: string } {
  if (/^[A-Za-z\d][\w.-]{0,62}$/.test(text)) return { ok: true, value: text };
  return {
    ok: false,
    message: 'a name may have letters, digits, . _ and -, at most 63, and begins with a letter or digit',
  };
}
