import { stringify } from 'yaml';
import { escapeControls } from '../log/unsafe-characters.ts';
import type { SecretTag } from './raw-tree.ts';

/** The content of a starter configuration: one account, one folder, one rule. */
export interface Starter {
  readonly baseUrl: string;
  readonly apiKey: { readonly tag: SecretTag; readonly argument: string };
  /** Absolute path. */
  readonly folder: string;
  readonly channel: { readonly id: string; readonly name: string | null };
  /** Title template; null for the default, which is the file name. */
  readonly title: string | null;
  readonly feeds: readonly string[];
  /** False if another instance already uses the status page's port. */
  readonly hasPage: boolean;
}

/**
 * The text of a starter configuration: short, with comments wherever the operator may want to add something. It passes
 * every check in `loadConfig`. The channel name comes from the service, so it is escaped to stay within its comment.
 */
export function starterText({ baseUrl, apiKey, folder, channel, title, feeds, hasPage }: Starter): string {
  const name = channel.name === null || channel.name === channel.id ? '' : ` # ${escapeControls(channel.name)}`;
  const lines = [
    '# dropcast: the folder that it watches, and what happens to the files in it.',
    '# `dropcast check` reports every problem with its line. All options: dropcast.yaml(5) and config.example.yaml.',
    '',
    'service:',
    `  base_url: ${scalar(baseUrl)}`,
    `  # ${KEY_IS[apiKey.tag]}`,
    `  api_key: !${apiKey.tag} ${scalar(apiKey.argument)}`,
    'folders:',
    `  - path: ${scalar(folder)}`,
    '    # The first rule that matches a file wins; this one matches every file. A rule may also set description, tags and priority.',
    '    rules:',
    '      - match: "**"',
    `        channel: ${scalar(channel.id)}${name}`,
    ...(title === null ? [] : [`        title: ${scalar(title)}`]),
    ...(feeds.length === 0 ? [] : ['        publish:', ...feeds.map((feed) => `          - ${scalar(feed)}`)]),
    ...(hasPage
      ? []
      : ['# Each page needs its own port: another instance uses the default one.', 'status:', '  listen: "off"']),
  ];
  return `${lines.join('\n')}\n`;
}

const KEY_IS: Readonly<Record<SecretTag, string>> = {
  env: 'The key is in this environment variable.',
  file: 'This file contains nothing but the key.',
  credential: 'systemd passes the key to the service.',
};

/** Writes text on one line, quoted if necessary. */
function scalar(text: string): string {
  return stringify(text, { lineWidth: 0, blockQuote: false }).trimEnd();
}
