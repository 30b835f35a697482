import { dirname, join } from 'node:path';
import type { NotifyTarget } from '@dropcast/notify/target';
import type { Rule } from '../routing/plan.ts';
import { nameOfMachine, type Environment } from './environment.ts';
import { type LedgerAddress, isOnThisMachine } from './addresses.ts';
import { type ConfigPaths, resolvePath, socketPath } from './paths.ts';
import type { Problem } from './problem.ts';
import type { CheckedTree } from './schema.ts';
import { usualKinds } from './schema-notify.ts';
import type { Secret } from './secret.ts';
import type { AuthoritiesByHost, LedgerSecrets, Resolved, SecretOrigin } from './secrets.ts';
import type { Setting } from './settings.ts';

/**
 * The checked configuration that the rest of the program uses. All durations are in milliseconds, all paths are
 * absolute and all defaults are filled in. Only `loadConfig` creates one, from YAML. `schema.ts` describes every
 * setting.
 */
export interface Config extends Readonly<
  Pick<CheckedTree, 'uploads' | 'retry' | 'poll' | 'publish' | 'status' | 'log'>
> {
  /** Absolute path of the configuration file. */
  readonly file: string;
  /** Written settings and warnings, for display. */
  readonly source: {
    readonly written: readonly Setting[];
    readonly warnings: readonly Problem[];
    /** Returns the rules of a folder as YAML, without comments. Absent without the key, which could be in them. */
    rulesText?(folder: number): string;
  };
  readonly service: ServiceConfig;
  /** Absolute path of the directory for the ledger and receipts. */
  readonly stateDir: string;
  /** A fleet's database; null for SQLite in the state directory. */
  readonly ledger: LedgerConfig | null;
  /** The name of this fleet member. */
  readonly hostName: string;
  /** Absolute path of `failures.jsonl`: in `$LOGS_DIRECTORY` under systemd, otherwise in the state directory. */
  readonly failureLog: string;
  readonly folders: readonly FolderConfig[];
  /** Files that list the finished videos. */
  readonly exports: readonly ExportConfig[];
  /** Recipients of notifications. */
  readonly notify: readonly NotifyTarget[];
}

export interface ServiceConfig extends Readonly<CheckedTree['service']> {
  readonly apiKeyFrom: SecretOrigin;
  /** Certificate authorities to trust besides those that come with Node.js, for the service and its upload hosts. */
  readonly authorities: AuthoritiesByHost;
}

/** Settings for verifying webhooks. */
export type WebhookConfig = NonNullable<ServiceConfig['webhooks']>;

/** Amounts that the service accepts in a day or month; `Infinity`: no limit. */
export type QuotaConfig = NonNullable<ServiceConfig['quota']>;

/** A file that gets a line for each finished video. */
export interface ExportConfig {
  /** Absolute path, in the directory of the failure log. */
  readonly path: string;
  readonly format: 'csv' | 'ndjson';
}

export interface LedgerConfig extends LedgerAddress, LedgerSecrets {
  readonly tls: boolean;
}

type CheckedFolder = CheckedTree['folders'][number];

/** What to do with the local file once its video is ready. */
export type AfterReady = FolderConfig['afterReady'];

export interface FolderConfig extends Readonly<Omit<CheckedFolder, 'rules' | 'include' | 'exclude' | 'expect'>> {
  /** The folder's key in the configuration, such as `folders[0]`. */
  readonly key: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Files that must be there by a time of day; absent if there are none. */
  readonly expect?: readonly Expectation[];
  readonly rules: readonly Rule[];
}

/** Files that must be in a folder by a time of day. Times are minutes since midnight. */
export type Expectation = Readonly<CheckedFolder['expect'][number]>;

/** The inputs of `assemble`, besides the checked tree. */
interface Context {
  readonly paths: ConfigPaths;
  readonly environment: Environment;
  readonly secrets: Omit<Resolved, 'tree'>;
  /** Returns the line of a key such as `folders[0].rules[1]`. */
  lineOf(key: string): number;
}

/** Builds the configuration from a tree that has passed every check. */
export function assemble(tree: CheckedTree, context: Context): Omit<Config, 'source'> {
  const { paths, environment, secrets } = context;
  const { file, stateDir, failureLog } = paths;
  const { uploads, retry, poll, publish, log, status } = tree;
  return {
    file,
    service: { ...tree.service, apiKeyFrom: secrets.apiKeyFrom, authorities: secrets.authorities },
    stateDir,
    ledger: ledgerOf(tree.ledger, secrets.ledger),
    hostName: tree.host_name ?? nameOfMachine(environment),
    failureLog,
    uploads,
    retry,
    poll,
    publish,
    folders: tree.folders.map((folder, index) => folderOf(folder, `folders[${index}]`, context)),
    status: { ...status, socket: socketPath(status.socket, stateDir, file, environment) },
    exports: tree.exports.map(({ to }) => ({
      path: join(dirname(failureLog), to),
      format: to.endsWith('.csv') ? 'csv' : 'ndjson',
    })),
    notify: tree.notify.map((each) => {
      const target = withoutUnwanted(each, tree.folders);
      if (target.type !== 'command') return target;
      const [program = '', ...rest] = target.argv;
      return { ...target, argv: [resolvePath(program, file, environment), ...rest] };
    }),
    log,
  };
}

/** A target that folders or rules name gets only the news of their files, unless its `on` asks for more. */
function withoutUnwanted(target: NotifyTarget, folders: readonly CheckedFolder[]): NotifyTarget {
  const people = folders.flatMap((folder) => [folder, ...folder.rules].flatMap(({ notify }) => notify ?? []));
  const isNamed = people.some(({ owners, others }) => [...Object.values(owners), ...others].includes(target.name));
  return isNamed && 'on' in target && target.on === usualKinds ? { ...target, on: [] } : target;
}

function ledgerOf(ledger: CheckedTree['ledger'], secrets: LedgerSecrets): LedgerConfig | null {
  if (ledger === undefined) return null;
  const { url, ca, tls = ca !== undefined || !isOnThisMachine(url.host) } = ledger;
  return { ...url, ...secrets, tls };
}

function folderOf({ expect, ...folder }: CheckedFolder, key: string, context: Context): FolderConfig {
  return {
    ...folder,
    path: resolvePath(folder.path, context.paths.file, context.environment),
    key,
    ...(expect.length > 0 && { expect }),
    rules: folder.rules.map((rule, index) => {
      const ruleKey = `${key}.rules[${index}]`;
      return { ...rule, key: ruleKey, line: context.lineOf(ruleKey) };
    }),
  };
}

/**
 * How the client sends a file. Missing `contentType`: it chooses the type; null: none. Missing `protocol`: it detects
 * one.
 */
export interface SendOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string | null;
  readonly protocol?: Exclude<Config['uploads']['protocol'], 'auto'>;
}

/** The headers and protocol of uploads, as the client expects them. */
export function sendOptionsOf({ uploads: { headers, contentType, protocol } }: Pick<Config, 'uploads'>): SendOptions {
  const revealed = Object.entries<Secret>(headers).map(([name, value]) => [name, value.reveal()] as const);
  return {
    headers: Object.fromEntries(revealed),
    ...(contentType !== 'auto' && { contentType: contentType === 'none' ? null : contentType }),
    ...(protocol !== 'auto' && { protocol }),
  };
}
