import { resolve } from 'node:path';
import { didYouMean } from '../routing/did-you-mean.ts';
import { doubtMoveTemplate, lintRules, type LooseRule } from '../routing/lint.ts';
import { renderDirectory } from '../routing/template.ts';
import { quoted } from '../routing/text.ts';
import { isLoopback, isOnThisMachine, parseLedgerAddress, parseListen } from './addresses.ts';
import { nameOfMachine, variable, type Environment } from './environment.ts';
import { parseReadyBy } from './ready-by.ts';
import { LONGEST, parseDuration } from './units.ts';
import { isWithin, readSocketPath, socketPath, type ConfigPaths } from './paths.ts';
import { error, warning, type Finding } from './problem.ts';
import { formatKeyPath, isMapping, listOf, parseKeyPath, property, textOf, type KeyPath } from './raw-tree.ts';

/**
 * Runs the checks that a schema cannot express: rules, how paths relate, and addresses of this
 * machine. Works on the raw tree so that one wrong key does not hide other mistakes. Never touches the disk.
 */
export function checkTree(tree: unknown, paths: ConfigPaths, environment: Environment): readonly Finding[] {
  const status = property(tree, 'status');
  const socket = socketPath(textOf(property(status, 'socket')) ?? 'auto', paths.stateDir, paths.file, environment);
  return [
    ...listOf(property(tree, 'folders')).flatMap((folder, index) => checkFolder(folder, ['folders', index])),
    ...checkLayout(placesOf(paths)),
    ...checkMoves(paths.folders),
    ...checkSocket(socket),
    ...checkListen(property(status, 'listen'), environment),
    ...checkLedger(tree, environment),
    ...checkShares(listOf(property(tree, 'folders')), property(tree, 'ledger') !== undefined),
    ...checkNotify(listOf(property(tree, 'notify'))),
    ...checkPeople(listOf(property(tree, 'folders')), listOf(property(tree, 'notify'))),
    ...checkWebhooks(property(tree, 'service'), property(status, 'listen')),
  ];
}

/** Checks a folder's rules and the directory that its files move to. */
export function checkFolder(folder: unknown, path: KeyPath): Finding[] {
  const move = textOf(property(property(folder, 'after_ready'), 'move'));
  const doubt = move === undefined ? null : doubtMoveTemplate(move);
  return [
    ...(doubt === null ? [] : [warning([...path, 'after_ready', 'move'], doubt)]),
    ...checkReadyBy(folder, path),
    ...lintRules(looseRules(property(folder, 'rules'), [...path, 'rules'])).map(({ key, severity, message }) => ({
      ...error(parseKeyPath(key), message),
      severity,
    })),
  ];
}

/** Warns about deadlines that end before a file even counts as complete. */
function checkReadyBy(folder: unknown, path: KeyPath): Finding[] {
  const settle = textOf(property(folder, 'settle')) ?? '5s';
  const settles = parseDuration(settle, { min: '0s', max: LONGEST });
  const places = [folder, ...listOf(property(folder, 'rules'))];
  return places.flatMap((place, index) => {
    const due = parseReadyBy(textOf(property(place, 'ready_by')) ?? 'off');
    if (!settles.ok || !due.ok || due.value === null || !('afterMs' in due.value)) return [];
    if (due.value.afterMs > settles.value) return [];
    const key = index === 0 ? path : [...path, 'rules', index - 1];
    return [warning([...key, 'ready_by'], `is not longer than settle (${settle}), so every file would be late`)];
  });
}

function looseRules(rules: unknown, path: KeyPath): LooseRule[] {
  return listOf(rules).flatMap((rule, index) => (isMapping(rule) ? [looseRule(rule, [...path, index])] : []));
}

function looseRule(rule: unknown, path: KeyPath): LooseRule {
  return {
    key: formatKeyPath(path),
    match: textOf(property(rule, 'match')),
    title: textOf(property(rule, 'title')),
    description: textOf(property(rule, 'description')),
    // A tag that is not text keeps its place so that later tags are reported at the right index.
    tags: listOf(property(rule, 'tags')).map((tag) => textOf(tag) ?? ''),
  };
}

/** A configured directory; the path is absolute and normalised. */
export interface Directory {
  readonly key: KeyPath;
  readonly path: string;
}

export interface Layout {
  readonly folders: readonly Directory[];
  /** Null if its location is unknown. */
  readonly stateDir: Directory | null;
}

/** The directories as written in the configuration, with the keys used in problem reports. */
export function placesOf({ folders, stateDir }: Pick<ConfigPaths, 'folders' | 'stateDir'>): Layout {
  return {
    folders: folders.map(({ key, path }) => ({ key: [...parseKeyPath(key), 'path'], path })),
    stateDir: { key: ['state_dir'], path: stateDir },
  };
}

/**
 * Checks how directories relate. Watching a folder twice, or keeping the state directory inside a folder, is an error;
 * a folder inside another is a warning. Called once with the paths as written and once with links resolved. Pure.
 */
export function checkLayout({ folders, stateDir }: Layout): readonly Finding[] {
  return [
    ...folders.flatMap((folder, index) => checkPlace(folder, folders.slice(0, index), folders)),
    ...(stateDir === null ? [] : checkStateDir(stateDir, folders)),
  ];
}

/** Rejects moving finished files into another watched folder, where they would count as new. */
export function checkMoves(folders: ConfigPaths['folders']): readonly Finding[] {
  return folders.flatMap(({ key, path, afterReady }) => {
    if (afterReady.kind !== 'move') return [];
    const target = resolve(path, renderDirectory(afterReady.to, { path: 'video.mp4', modifiedMs: 0 }));
    const into = folders.find(
      (other) => other.path !== path && isWithin(other.path, path) && isWithin(target, other.path),
    );
    if (into === undefined) return [];
    const message =
      `${JSON.stringify(afterReady.to)} leads into the watched folder ${into.path}, where finished files would be ` +
      'mistaken for new ones; choose a directory outside of it';
    return [error([...parseKeyPath(key), 'after_ready', 'move'], message)];
  });
}

function checkPlace({ key, path }: Directory, earlier: readonly Directory[], all: readonly Directory[]): Finding[] {
  const twin = earlier.find((other) => other.path === path);
  if (twin !== undefined) return [error(key, `same folder as ${formatKeyPath(twin.key)}; put all its rules there`)];
  const outer = all
    .filter((other) => other.path !== path && isWithin(path, other.path))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  if (outer === undefined) return [];
  return [
    warning(key, `inside ${outer.path}, which is also watched; only the rules of this folder apply to its files`),
  ];
}

function checkStateDir({ key, path }: Directory, folders: readonly Directory[]): Finding[] {
  const outer = folders.find((folder) => isWithin(path, folder.path));
  if (outer === undefined) return [];
  return [
    error(key, `${path} is inside the watched folder ${outer.path}; move it out, or dropcast watches its own files`),
  ];
}

/**
 * Maximum socket path length. `sun_path` has 108 bytes including the final NUL (unix(7)), and Node silently truncates
 * longer paths.
 */
const MAX_SOCKET_BYTES = 107;

function checkSocket(path: string): Finding[] {
  const bytes = Buffer.byteLength(path);
  // The read-only socket next to it has a longer name.
  const most = MAX_SOCKET_BYTES - (Buffer.byteLength(readSocketPath(path)) - bytes);
  if (bytes <= most) return [];
  const message = `${path} is ${bytes} bytes long, but a socket path may have ${most}; set a shorter one`;
  return [error(['status', 'socket'], message)];
}

function checkListen(listen: unknown, environment: Environment): Finding[] {
  // A container listens on all addresses, but only its published port is reachable (docs/container.md). Container
  // managers (https://systemd.io/CONTAINER_INTERFACE) and our image set this variable.
  if (variable(environment, 'container') !== undefined) return [];
  const parsed = typeof listen === 'string' ? parseListen(listen) : null;
  if (parsed?.ok !== true || parsed.value === null || isLoopback(parsed.value.host)) return [];
  return [
    warning(
      ['status', 'listen'],
      'other machines can reach the status page, and its token crosses the network in plain text; write 127.0.0.1, and put a proxy with TLS in front for other machines',
    ),
  ];
}

function checkLedger(tree: unknown, environment: Environment): Finding[] {
  const ledger = property(tree, 'ledger');
  if (ledger === undefined) return [];
  // Docker and Podman generate default host names of this form.
  const isNameless = property(tree, 'host_name') === undefined && /^[\da-f]{12}$/.test(nameOfMachine(environment));
  const nameless =
    'this container gets a new name at each start, so the fleet would treat it as another host; set host_name';
  const address = parseLedgerAddress(textOf(property(ledger, 'url')) ?? '');
  const isPlain = property(ledger, 'tls') === false && address.ok && !isOnThisMachine(address.value.host);
  const plain = 'sends the whole ledger over the network in plain text; remove it unless you trust that network';
  return [
    ...(isNameless ? [warning(['ledger'], nameless)] : []),
    ...(isPlain ? [warning(['ledger', 'tls'], plain)] : []),
  ];
}

/**
 * Checks that share names are unique, because the ledger identifies a file by its share and its path within the share.
 */
function checkShares(folders: readonly unknown[], isFleet: boolean): Finding[] {
  const shares = folders.map((folder) => textOf(property(folder, 'share')));
  return shares.flatMap((share, index) => {
    if (share === undefined) return [];
    const path = ['folders', index, 'share'];
    const first = shares.indexOf(share);
    if (first < index)
      return [
        error(path, `folders[${first}] is already the share ${quoted(share)}; give each folder a name of its own`),
      ];
    return isFleet ? [] : [warning(path, 'has no effect without ledger: this host watches the folder alone')];
  });
}

/** Checks that target names are unique, because messages are queued under the name of their target. */
function checkNotify(targets: readonly unknown[]): Finding[] {
  const names = targets.map((target) => textOf(property(target, 'name')) ?? textOf(property(target, 'type')));
  return names.flatMap((name, index) => {
    if (name === undefined || names.indexOf(name) === index) return [];
    return [
      error(
        ['notify', index, 'name'],
        `another target is already called ${quoted(name)}; give this one a name of its own`,
      ),
    ];
  });
}

/** Checks that folders and rules name targets that exist and take messages. */
function checkPeople(folders: readonly unknown[], targets: readonly unknown[]): Finding[] {
  const known = targets.flatMap((target) => {
    const type = textOf(property(target, 'type'));
    return type === 'heartbeat' ? [] : (textOf(property(target, 'name')) ?? type ?? []);
  });
  return folders.flatMap((folder, index) =>
    [{ place: folder, path: ['folders', index] as KeyPath }, ...rulesIn(folder, index)].flatMap(({ place, path }) =>
      namesIn(property(place, 'notify'), [...path, 'notify']).flatMap(({ name, path: where }) =>
        name === undefined || known.includes(name) ? [] : [error(where, noTarget(name, known))],
      ),
    ),
  );
}

function rulesIn(folder: unknown, index: number) {
  return listOf(property(folder, 'rules')).map((place, n) => ({ place, path: ['folders', index, 'rules', n] }));
}

function namesIn(
  notify: unknown,
  path: KeyPath,
): readonly { readonly name: string | undefined; readonly path: KeyPath }[] {
  if (Array.isArray(notify)) return notify.map((name, n) => ({ name: textOf(name), path: [...path, n] }));
  const owners = property(notify, 'owners');
  return [
    ...Object.entries(isMapping(owners) ? owners : {}).map(([owner, name]) => ({
      name: textOf(name),
      path: [...path, 'owners', owner],
    })),
    ...listOf(property(notify, 'others')).map((name, n) => ({ name: textOf(name), path: [...path, 'others', n] })),
  ];
}

function noTarget(name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  if (meant !== null) return `no target in notify is called ${quoted(name)}, did you mean ${quoted(meant)}?`;
  const list = known.length === 0 ? 'it has none that takes messages' : `it has ${known.join(', ')}`;
  return `no target in notify is called ${quoted(name)}; ${list}`;
}

/** Warns about webhook settings without effect. Webhooks are received at the status page's address. */
function checkWebhooks(service: unknown, listen: unknown): Finding[] {
  const secret = property(service, 'webhook_secret');
  const isOff = secret === undefined || secret === 'off';
  const isStandard = (property(service, 'webhook_scheme') ?? 'standard') === 'standard';
  const hasHeader = property(service, 'webhook_header') !== undefined;
  const noEffect = (key: string, why: string) => warning(['service', key], `has no effect ${why}`);
  return [
    ...(!isOff && listen === 'off'
      ? [noEffect('webhook_secret', 'while status.listen is off; webhooks arrive at that address')]
      : []),
    ...(isOff && !isStandard ? [noEffect('webhook_scheme', 'without service.webhook_secret')] : []),
    ...(hasHeader && isStandard
      ? [noEffect('webhook_header', 'with service.webhook_scheme standard, which has headers of its own')]
      : []),
  ];
}
