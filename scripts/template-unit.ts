import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/**
 * Where `dropcast@.service` is another one than `dropcast.service`: its names. Each must be in the unit, or it has
 * moved on.
 */
const replacements: readonly (readonly [of: string, by: string])[] = [
  [
    '# dropcast as a service. A drop-in gives it access to the folders of your configuration: `dropcast systemd drop-in` writes it.',
    [
      '# Generated from dropcast.service by `npm run generate`.',
      '#',
      '# dropcast as a service, once for each account: dropcast@news reads /etc/dropcast/news.yaml, with its key in /etc/dropcast/news.key.',
      '# A drop-in gives it access to the folders of that file: `dropcast systemd drop-in --instance news` writes it.',
    ].join('\n'),
  ],
  ['security dropcast.service', 'security dropcast@NAME.service'],
  ['Description=dropcast: uploads', 'Description=dropcast (%i): uploads'],
  ['SyslogIdentifier=dropcast', 'SyslogIdentifier=dropcast@%i'],
  ['StateDirectory=dropcast', 'StateDirectory=dropcast@%i'],
  ['LogsDirectory=dropcast', 'LogsDirectory=dropcast@%i'],
  ['RuntimeDirectory=dropcast', 'RuntimeDirectory=dropcast@%i'],
  ['-%t/dropcast %S/dropcast %L/dropcast', '-%t/dropcast@%i %S/dropcast@%i %L/dropcast@%i'],
  ['WorkingDirectory=/var/lib/dropcast', 'WorkingDirectory=/var/lib/dropcast@%i'],
  ['DROPCAST_CONFIG=/etc/dropcast/dropcast.yaml', 'DROPCAST_CONFIG=/etc/dropcast/%i.yaml'],
  ['LoadCredential=api_key:/etc/dropcast/api_key', 'LoadCredential=api_key:/etc/dropcast/%i.key'],
  ['InaccessiblePaths=-/etc/dropcast/api_key', 'InaccessiblePaths=-/etc/dropcast/api_key -/etc/dropcast/%i.key'],
];

/** The unit for several accounts on one machine, which is that for one account with other names. */
export async function templateUnit(): Promise<string> {
  const unit = await readFile(resolve(import.meta.dirname, '../systemd/dropcast.service'), 'utf8');
  return replacements.reduce((text, [of, by]) => {
    if (!text.includes(of)) throw new Error(`systemd/dropcast.service no longer holds ${of}`);
    return text.replace(of, () => by);
  }, unit);
}
