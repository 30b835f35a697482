import { compileFilter, compileMatch } from './match.ts';
import { quoted } from './text.ts';

/** The likely reason why a pattern does not match, and the change that would make it match. One of the two is set. */
export interface LikelyCause {
  /** Half a sentence. */
  readonly why: string;
  /** With this pattern the path matches. */
  readonly pattern?: string;
  /** With this path the pattern matches. */
  readonly path?: string;
}

/**
 * Pure: the probable mistake when a pattern of a rule does not match a path; null when no single mistake explains it.
 * The suggestion is verified: with that one change the path matches.
 */
export function likelyCause(pattern: string, path: string): LikelyCause | null {
  if (compileMatch(pattern).match(path) !== null) return null;
  return bySpaces(pattern, path) ?? byCase(pattern, path) ?? byStars(pattern, path) ?? byFolder(pattern, path);
}

function bySpaces(pattern: string, path: string): LikelyCause | null {
  const trimmed = path
    .split('/')
    .map((part) => part.trim())
    .join('/');
  if (trimmed === path || compileMatch(pattern).match(trimmed) === null) return null;
  const part = path.split('/').find((one) => one !== one.trim()) ?? '';
  const where = part.trimStart() === part ? 'end' : 'beginning';
  return { why: `the name ${quoted(part)} has a space at the ${where}`, path: trimmed };
}

/** `include` and `exclude` ignore case; rules do not. */
function byCase(pattern: string, path: string): LikelyCause | null {
  if (!compileFilter([pattern], [])(path)) return null;
  const parts = path.split('/');
  const variants = [path.toLowerCase(), path.toUpperCase()];
  // The case of the pattern's own letters, as far as they are at the same place.
  const asWritten = parts.map((part, i) => {
    const wanted = pattern.split('/')[i];
    return wanted !== undefined && wanted.toLowerCase() === part.toLowerCase() ? wanted : part;
  });
  const extension = /[^.]*$/u;
  variants.push(
    asWritten.join('/'),
    path.replace(extension, (text) => text.toLowerCase()),
    asWritten.join('/').replace(extension, (text) => text.toLowerCase()),
  );
  const matching = variants.find((variant) => compileMatch(pattern).match(variant) !== null);
  return matching === undefined
    ? null
    : { why: 'the case differs: upper and lower case matter in rules', path: matching };
}

function byStars(pattern: string, path: string): LikelyCause | null {
  const parts = pattern.split('/');
  for (const [i, part] of parts.entries()) {
    if (!part.includes('*') || part === '**') continue;
    const wider = part === '*' && i === parts.length - 1 ? '**' : `**/${part}`;
    const widened = [...parts.slice(0, i), wider, ...parts.slice(i + 1)].join('/');
    if (compileMatch(widened).match(path) !== null)
      return { why: `\`*\` does not cross folders: write ${quoted(widened)}`, pattern: widened };
  }
  return null;
}

function byFolder(pattern: string, path: string): LikelyCause | null {
  const deeper = `**/${pattern}`;
  if (!pattern.startsWith('**') && compileMatch(deeper).match(path) !== null)
    return {
      why: `the pattern is for the top of the folder, and the file lies deeper: write ${quoted(deeper)}`,
      pattern: deeper,
    };
  const inside = `${pattern.replace(/\/$/u, '')}/**`;
  if (compileMatch(inside).match(path) !== null)
    return { why: `the pattern names a folder, not what is in it: write ${quoted(inside)}`, pattern: inside };
  return null;
}
