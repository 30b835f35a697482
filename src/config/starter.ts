import { Document, Scalar, YAMLMap } from 'yaml';
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
export function starterText(starter: Starter): string {
  const { baseUrl, apiKey, folder, channel, title, feeds, hasPage } = starter;
  const document = new Document({
    service: { base_url: baseUrl, api_key: tagged(apiKey.tag, apiKey.argument) },
    folders: [
      {
        path: folder,
        rules: [
          {
            match: '**',
            channel: commented(channel.id, channel.name),
            ...(title !== null && { title }),
            ...(feeds.length > 0 && { publish: feeds }),
          },
        ],
      },
    ],
    ...(!hasPage && { status: { listen: 'off' } }),
  });
  document.commentBefore = HEAD;
  comment(document, ['service', 'api_key'], KEY_IS[apiKey.tag]);
  comment(document, ['folders', 0, 'rules'], RULES);
  comment(document, ['status'], ' Each page needs its own port: another instance uses the default one.');
  return document.toString({ lineWidth: 0 });
}

const HEAD = ` dropcast: the folder that it watches, and what happens to the files in it.
 \`dropcast check\` reports every problem with its line. All options: dropcast.yaml(5) and config.example.yaml.`;

const RULES = ` The first rule that matches a file wins; this one matches every file. A rule may also set description, tags and priority.`;

const KEY_IS: Readonly<Record<SecretTag, string>> = {
  env: ' The key is in this environment variable.',
  file: ' This file contains nothing but the key.',
  credential: ' systemd passes the key to the service.',
};

function tagged(tag: SecretTag, argument: string): Scalar {
  const scalar = new Scalar(argument);
  scalar.tag = `!${tag}`;
  return scalar;
}

function commented(value: string, name: string | null): Scalar {
  const scalar = new Scalar(value);
  if (name !== null && name !== value) scalar.comment = ` ${escapeControls(name)}`;
  return scalar;
}

/** Puts a comment on the line above a key, if the key exists. */
function comment(document: Document, path: readonly (string | number)[], text: string): void {
  const parent = document.getIn(path.slice(0, -1));
  const pair = (parent instanceof YAMLMap ? parent : document.contents) as YAMLMap;
  const found = pair.items.find(({ key }) => (key as Scalar).value === path.at(-1));
  if (found !== undefined) (found.key as Scalar).commentBefore = text;
}
