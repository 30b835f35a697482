import { compileFilter, compileMatch } from './match.ts';
import { quoted } from './text.ts';

/**
 * The likely reason why a pattern does not match, and the change that would fix it: either `pattern` or `path` is set.
 */
export interface LikelyCause {
  /** The reason, as a sentence fragment. */
  readonly why: string;
  /** A corrected pattern that matches the path. */
  readonly pattern?: string;
  /** A corrected path that the pattern matches. */
  readonly path?: string;
}

/**
 * Finds the probable mistake when a rule's pattern does not match a path. Returns null if no single mistake explains
 * it. The suggested change is verified to produce a match. Pure.
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

/** Checks for a difference in case. Rules are case-sensitive, unlike `include` and `exclude`. */
function byCase(pattern: string, path: string): LikelyCause | null {
  if (!compileFilter([pattern], [])(path)) return null;
  const parts = path.split('/');
  const variants = [path.toLowerCase(), path.toUpperCase()];
  // The path in the pattern's own case, wherever their segments differ only in case.
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
