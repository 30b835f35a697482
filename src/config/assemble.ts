import { assembleNotify } from './assemble-notify.ts';
import type {
  AfterReady,
  Config,
  Expectation,
  FolderConfig,
  LedgerConfig,
  SendOptions,
  WebhookConfig,
} from './config.ts';
import type { Rule } from '../routing/plan.ts';
import { nameOfMachine, type Environment } from './environment.ts';
import { isOnThisMachine } from './ledger-address.ts';
import type { LedgerSecrets } from './ledger-secrets.ts';
import { resolvePath, socketPath, type ConfigPaths } from './paths.ts';
import type { CheckedTree } from './schema.ts';
import { type Secret, secret } from './secret.ts';
import type { Secrets } from './secrets.ts';

type CheckedFolder = CheckedTree['folders'][number];
type CheckedRule = CheckedFolder['rules'][number];

/** What the configuration is built from, besides the checked tree. */
export interface Context {
  readonly paths: ConfigPaths;
  readonly environment: Environment;
  readonly secrets: Secrets;
  /** Returns the line of a key such as `folders[0].rules[1]`. */
  lineOf(key: string): number;
}

/** Builds the configuration from a tree that has passed every check. */
export function assemble(tree: CheckedTree, context: Context): Omit<Config, 'source'> {
  const { paths, environment } = context;
  const { byPath, apiKeyFrom, ledger, authorities } = context.secrets;
  const { file, stateDir, failureLog } = paths;
  return {
    file,
    service: {
      baseUrl: tree.service.base_url,
      apiKey: byPath.get('service.api_key') ?? secret(''),
      apiKeyFrom,
      webhooks: assembleWebhooks(tree.service, byPath.get('service.webhook_secret')),
      requestsPerHour: tree.service.requests_per_hour,
      quota: assembleQuota(tree.service.quota),
      sendKeyTo: tree.service.send_key_to,
      honoursIdempotencyKey: tree.service.idempotency_key,
      authorities,
    },
    stateDir,
    ledger: assembleLedger(tree.ledger, ledger),
    hostName: tree.host_name ?? nameOfMachine(environment),
    failureLog,
    uploads: {
      concurrency: tree.uploads.concurrency,
      bandwidth: tree.uploads.bandwidth,
      window: tree.uploads.window,
      stallTimeoutMs: tree.uploads.stall_timeout,
      maxSizeBytes: tree.uploads.max_size,
      headers: Object.fromEntries(
        Object.keys(tree.uploads.headers).map((name) => [name, byPath.get(`uploads.headers.${name}`) ?? secret('')]),
      ),
      contentType: tree.uploads.content_type,
      protocol: tree.uploads.protocol,
    },
    retry: { attempts: tree.retry.attempts, firstMs: tree.retry.first, maxMs: tree.retry.max },
    poll: { intervalMs: tree.poll.interval, giveUpAfterMs: tree.poll.give_up_after },
    publish: { quietMs: tree.publish.quiet, atMostMs: tree.publish.at_most },
    folders: tree.folders.map((folder, index) => assembleFolder(folder, `folders[${index}]`, context)),
    status: {
      listen: tree.status.listen,
      hosts: tree.status.hosts,
      socket: socketPath(tree.status.socket, stateDir, file, environment),
    },
    notify: assembleNotify(tree.notify, byPath, (path) => resolvePath(path, file, environment)),
    log: tree.log,
  };
}

function assembleWebhooks(
  { webhook_scheme: scheme, webhook_header: header }: CheckedTree['service'],
  webhookSecret: Secret | undefined,
): WebhookConfig | null {
  return webhookSecret === undefined ? null : { secret: webhookSecret, scheme, header: header ?? null };
}

function assembleLedger(ledger: CheckedTree['ledger'], secrets: LedgerSecrets): LedgerConfig | null {
  if (ledger === undefined) return null;
  const { url, ca, tls } = ledger;
  return { ...url, ...secrets, tls: tls ?? (ca !== undefined || !isOnThisMachine(url.host)) };
}

function assembleFolder(folder: CheckedFolder, key: string, context: Context): FolderConfig {
  const expect = [
    ...folder.expect.map(assembleExpectation),
    ...folder.rules.flatMap(({ match, expect: wanted }) =>
      wanted.map((each) => assembleExpectation({ match, ...each })),
    ),
  ];
  return {
    path: resolvePath(folder.path, context.paths.file, context.environment),
    key,
    ...(folder.share !== undefined && { share: folder.share }),
    include: folder.include,
    exclude: folder.exclude,
    settleMs: folder.settle,
    doneMarker: folder.done_marker === 'off' ? null : folder.done_marker,
    watch: folder.watch,
    rescanMs: folder.rescan,
    onDuplicate: folder.on_duplicate,
    onChange: folder.on_change,
    existing: folder.existing,
    afterReady: afterReady(folder.after_ready),
    ...(folder.uploads !== undefined && { uploads: folder.uploads }),
    ...(expect.length > 0 && { expect }),
    rules: folder.rules.map((rule, index) => assembleRule(rule, `${key}.rules[${index}]`, context)),
  };
}

function assembleQuota(quota: CheckedTree['service']['quota']): Config['service']['quota'] {
  if (quota === undefined) return null;
  const { videos = Infinity, size = Infinity, minutes = Infinity, per, resets } = quota;
  return { videos, bytes: size, minutes, per, resets };
}

function assembleExpectation({ grace, zone, ...expectation }: CheckedFolder['expect'][number]): Expectation {
  return { ...expectation, zone: zone ?? null, graceMs: grace };
}

function assembleRule(rule: CheckedRule, key: string, context: Context): Rule {
  return {
    key,
    line: context.lineOf(key),
    match: rule.match,
    channel: rule.channel,
    title: rule.title,
    description: rule.description ?? null,
    tags: rule.tags,
    publish: rule.publish,
    priority: rule.priority,
  };
}

function afterReady(value: CheckedFolder['after_ready']): AfterReady {
  if (typeof value === 'string') return { kind: value };
  if ('move' in value) return { kind: 'move', to: value.move };
  return { kind: 'delete', later: { afterMs: value.delete.after ?? null, whenFull: value.delete.when_full ?? null } };
}

/** The headers and protocol of uploads, as the client expects them. */
export function sendOptionsOf({ uploads: { headers, contentType, protocol } }: Pick<Config, 'uploads'>): SendOptions {
  const revealed = Object.entries(headers).map(([name, value]) => [name, value.reveal()] as const);
  return {
    headers: Object.fromEntries(revealed),
    ...(contentType !== 'auto' && { contentType: contentType === 'none' ? null : contentType }),
    ...(protocol !== 'auto' && { protocol }),
  };
}
