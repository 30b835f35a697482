import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** A name pattern that dropcast ignores at any depth. `docs/left-alone-names.md` is generated from these. */
interface LeftAloneName {
  /** Pattern, case-insensitive: `*` matches any characters, `?` matches one, and `EXT` matches an extension. */
  readonly name: string;
  readonly program: string;
  /** Why such a file is not a video to upload. */
  readonly reason: string;
  readonly source: string;
}

/**
 * Returns the rule that explains why a path is ignored. The first matching segment decides.
 *
 * @param path relative to the watched folder, with `/`
 * @returns null if no segment matches
 */
export function leftAloneName(path: string): (LeftAloneName & { readonly segment: string }) | null {
  const segment = path.split('/').find(isLeftAloneSegment);
  if (segment === undefined) return null;
  const row = ROWS.find(({ pattern }) => pattern.test(segment));
  return row === undefined ? null : { ...row.kind, segment };
}

/** Whether any segment of the path matches. Called for each name in a scan. */
export function isLeftAlone(path: string): boolean {
  return path.split('/').some(isLeftAloneSegment);
}

const bin = 'a recycle bin: someone deleted this file';
const snapshot = 'a snapshot: an older version of a file';
const unfinished = 'not finished: the program renames it when it is complete';
const system = 'used internally by the system';
const preview = 'a preview or proxy for the editing program';
const lock = 'a lock or backup file of an editor';

const rows = (reason: string, program: string, source: string, names: readonly string[]): readonly LeftAloneName[] =>
  names.map((name) => ({ name, program, reason, source }));

/** All ignored name patterns. If several match, the first is reported. */
export const leftAloneNames: readonly LeftAloneName[] = [
  rows(bin, 'Synology DSM, TerraMaster TOS', 'Synology Knowledge Center, Recycle Bin', ['#recycle']),
  rows(bin, 'QNAP QTS', 'QTS user guide, Network Recycle Bin', ['@Recycle']),
  rows(bin, 'Samba (OpenMediaVault, Unraid, TrueNAS)', 'vfs_recycle(8)', ['.recycle', '.recycle.bin']),
  rows(bin, 'Buffalo LinkStation, TeraStation', 'TeraStation user manual, Recycle Bin', ['trashbox']),
  rows(bin, 'ASUSTOR ADM, Netgear ReadyNAS, WD', 'ADM user guide, Network Recycle Bin', [
    'Network Recycle Bin',
    'Recycle Bin - Volume_?',
  ]),
  rows(bin, 'macOS, Netatalk', 'afpd(8)', ['Network Trash Folder', '.Trashes']),
  rows(bin, 'Linux desktops', 'freedesktop.org Trash specification', ['.Trash', '.Trash-*']),
  rows(bin, 'Windows', 'Microsoft Learn, Recycle Bin', ['$RECYCLE.BIN', 'RECYCLER']),
  rows(bin, 'Nextcloud, ownCloud', 'Nextcloud admin manual, deleted files', ['files_trashbin']),
  rows(snapshot, 'Synology DSM', 'Synology Knowledge Center, Snapshot Replication', ['#snapshot']),
  rows(snapshot, 'QNAP QTS', 'QTS user guide, Snapshots', ['@Recently-Snapshot']),
  rows(snapshot, 'NetApp ONTAP, Dell PowerScale', 'ONTAP documentation, Snapshot directory', [
    '.snapshot',
    '~snapshot',
  ]),
  rows(snapshot, 'ZFS (TrueNAS, Proxmox)', 'zfsprops(7), snapdir', ['.zfs']),
  rows(snapshot, 'Samba, Windows', 'vfs_shadow_copy2(8)', ['@GMT-????.??.??-*']),
  rows(snapshot, 'Nextcloud, ownCloud', 'Nextcloud admin manual, file versions', ['files_versions']),
  rows(snapshot, 'Syncthing', 'Syncthing documentation, File Versioning', ['.stversions']),
  rows(unfinished, 'Syncthing', 'Syncthing documentation, Block Exchange', ['.syncthing.*', '~syncthing~*']),
  rows(
    'one of two conflicting versions: a person decides',
    'Syncthing',
    'Syncthing documentation, Conflicting changes',
    ['*.sync-conflict-????????-??????*'],
  ),
  rows(unfinished, 'yt-dlp, ffmpeg scripts', 'yt-dlp, postprocessor/ffmpeg.py', ['*.temp.EXT', '*.tmp.EXT']),
  rows(unfinished, 'yt-dlp', 'yt-dlp, downloader/fragment.py', ['*.ytdl', '*.part-Frag*']),
  rows(unfinished, 'Firefox, yt-dlp and others', 'yt-dlp, downloader/common.py', ['*.part']),
  rows(unfinished, 'Chrome, Edge', 'Chromium, download_item_impl', ['*.crdownload']),
  rows(unfinished, 'Safari, Opera', 'WebKit, Download', ['*.download', '*.opdownload']),
  rows(unfinished, 'rclone', 'rclone documentation, --partial-suffix', ['*.partial']),
  rows(unfinished, 'WinSCP', 'WinSCP documentation, Resume', ['*.filepart']),
  rows(unfinished, 'aria2', 'aria2c(1), control file', ['*.aria2']),
  rows(unfinished, 'uTorrent, qBittorrent', 'qBittorrent, preferences', ['*.!ut', '*.!bt', '*.!qB']),
  rows(unfinished, 'Xunlei, Free Download Manager', 'their preferences', ['*.xltd', '*.fdmdownload']),
  rows(unfinished, 'SABnzbd', 'SABnzbd documentation, Folders', ['_UNPACK_*', '_FAILED_*']),
  rows(unfinished, 'many programs', 'common practice', ['*.tmp', '*.temp']),
  rows(unfinished, 'macOS applications', 'Apple, NSDocument safe saving', ['*.sb-????????-??????']),
  rows('a remuxed copy of the recording next to it', 'OBS Studio', 'obs-studio, OBSBasic_Recording.cpp', [
    '*.remuxed.EXT',
  ]),
  rows(preview, 'Adobe Premiere Pro', 'Premiere Pro user guide, Preview files', [
    'Adobe Premiere Pro Video Previews',
    'Adobe Premiere Pro Audio Previews',
    'Adobe Premiere Pro Auto-Save',
    '*.PRV',
  ]),
  rows(preview, 'DaVinci Resolve', 'DaVinci Resolve manual, Working Folders', [
    'CacheClip',
    'ProxyMedia',
    'OptimizedMedia',
  ]),
  rows('a library of the editing program', 'Final Cut Pro', 'Final Cut Pro user guide, Libraries', ['*.fcpbundle']),
  rows(system, 'Synology DSM', 'Synology Knowledge Center, Indexing', [
    '@eaDir',
    '@tmp',
    '@SynoEAStream',
    '@SynoResource',
  ]),
  rows(system, 'QNAP QTS', 'QTS user guide, Multimedia Console', ['@__thumb']),
  rows(system, 'Windows', 'Microsoft Learn', ['System Volume Information', 'Thumbs.db', 'desktop.ini', 'FOUND.00?']),
  rows(system, 'macOS, Netatalk', 'afpd(8)', ['Temporary Items', 'TheVolumeSettingsFolder', 'TheFindByContentFolder']),
  rows(system, 'Linux', 'fsck(8)', ['lost+found']),
  rows(lock, 'Microsoft Office', 'Microsoft Learn, owner files', ['~$*']),
  rows(lock, 'Vim, Emacs', 'their manuals, backup and swap files', ['*.swp', '*~']),
  rows('says where the video next to it is watched', 'dropcast', 'docs/configuration.md, Link files', [
    '*.dropcast.json',
  ]),
  rows('hidden', 'any program', 'ls(1)', ['.*']),
].flat();

/** Translates a name pattern to regular expression source. A `*` at either end needs no anchor. */
function source(name: string): string {
  const inner = name
    .replaceAll(/^\*|\*$/gu, '')
    .replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replace(/EXT$/u, '[a-z0-9]{2,5}');
  return `${name.startsWith('*') ? '' : '^'}${inner}${name.endsWith('*') ? '' : '$'}`;
}

const ROWS = leftAloneNames.map((kind) => ({ kind, pattern: new RegExp(source(kind.name), 'isu') }));
// Whole names and extensions are looked up in sets, so most names cost two lookups and one regular expression. A scan
// checks 100,000 names, without a JIT.
const isWhole = (name: string): boolean => !/[*?]/u.test(name);
const isEnding = (name: string): boolean => /^\*\.[^*?.]+$/u.test(name) && !name.endsWith('EXT');
const lower = leftAloneNames.map(({ name }) => name.toLowerCase());
const WHOLE = new Set(lower.filter(isWhole));
const ENDINGS = new Set(lower.filter(isEnding).map((name) => name.slice(1)));
const OTHERS = new RegExp(
  leftAloneNames.flatMap(({ name }) => (isWhole(name) || isEnding(name) ? [] : [source(name)])).join('|'),
  'isu',
);

function isLeftAloneSegment(segment: string): boolean {
  const name = segment.toLowerCase();
  return name.startsWith('.') || WHOLE.has(name) || ENDINGS.has(name.slice(name.lastIndexOf('.'))) || OTHERS.test(name);
}

export const BROKEN_NAME = 'its name is not valid UTF-8';

/** Makes a name that is not valid UTF-8 printable: `a\xffb.mp4`. */
export function escapeName(name: Buffer): string {
  return Array.from(name, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Whether a nonexistent path refers to a name that is not valid UTF-8, in printable form or as passed by a shell. */
export async function meansBrokenName(path: string): Promise<boolean> {
  const name = basename(path);
  const there = await readdir(dirname(path), { encoding: 'buffer' }).catch(() => []);
  return there.some((bytes) => !isUtf8(bytes) && (escapeName(bytes) === name || bytes.toString() === name));
}
